import { dirname } from "node:path";
import type { LoopEventBody, Violation } from "../events.js";

/** The files of a workspace at one moment. */
export interface TreeLook {
  /** A word for the content of those that git does not ignore. */
  word: string;
  /** A word for the content of all that can be work. */
  content: string;
  /** The paths that the first word is about, each with a word for its content. */
  files(): ReadonlyMap<string, string>;
}

/** The workspace around a verification. */
export interface Tree {
  /** As it was before the first check, where that is known. */
  before?: TreeLook | undefined;
  look(): Promise<TreeLook>;
  /** Files that checks of this run were seen to write. */
  own: Set<string>;
}

export interface Pass<Result> {
  run(again?: string): AsyncGenerator<LoopEventBody, Result | undefined>;
  hasPassed(result: Result): boolean;
}

/** `moved`: why the result proves nothing, though it passed. */
export interface Judged<Result> {
  result: Result;
  moved?: string;
}

/**
 * Runs checks so that the tree they judged is the tree that is there when they have ended. If files changed
 * meanwhile, the checks run once more: files that change again are the checks' own.
 */
export async function* onOneTree<Result>(
  { run, hasPassed }: Pass<Result>,
  tree: Tree | undefined,
  iteration: number,
): AsyncGenerator<LoopEventBody, Judged<Result> | undefined> {
  const before = tree && (tree.before ?? (await tree.look()));
  const first = yield* run();
  if (first === undefined) return undefined;
  if (tree === undefined || before === undefined || !hasPassed(first)) return { result: first };
  const after = await tree.look();
  const changed = differences(before, after).filter((one) => !isAmong(one, tree.own));
  if (changed.length === 0) return { result: first };

  const second = yield* run(`${namesOf(changed)} changed while the checks ran`);
  if (second === undefined) return undefined;
  const last = await tree.look();
  const [early, late] = [keysOf(changed), keysOf(differences(after, last))];
  const isOwn = (one: Difference): boolean => isAmong(one, early) && isAmong(one, late);
  for (const key of keysOf(changed.filter(isOwn))) tree.own.add(key);
  const strange = hasPassed(second)
    ? differences(after, last).filter((one) => !isAmong(one, early) && !isAmong(one, tree.own))
    : changed.filter((one) => !isOwn(one));
  if (strange.length === 0) return { result: second };
  const moved = `${namesOf(strange)} changed while the checks ran, and not by them`;
  yield violationOf(strange, moved, iteration);
  return { result: second, moved };
}

interface Difference {
  path: string;
  /** Whether it appeared or went away: checks may name such files anew each time. */
  isNewOrGone: boolean;
}

function differences(before: TreeLook, after: TreeLook): Difference[] {
  if (before.word === after.word) return [];
  const [earlier, later] = [before.files(), after.files()];
  return [...new Set([...earlier.keys(), ...later.keys()])].flatMap((path) => {
    const [then, now] = [earlier.get(path), later.get(path)];
    return then === now ? [] : [{ path, isNewOrGone: then === undefined || now === undefined }];
  });
}

function keysOf(differences: Difference[]): Set<string> {
  return new Set(
    differences.flatMap(({ path, isNewOrGone }) => (isNewOrGone ? [path, folderOf(path)] : [path])),
  );
}

function isAmong({ path, isNewOrGone }: Difference, keys: Set<string>): boolean {
  return keys.has(path) || (isNewOrGone && keys.has(folderOf(path)));
}

/** No path of a file ends like this. */
function folderOf(path: string): string {
  return `${dirname(path)}/`;
}

const MAX_NAMES = 3;

function namesOf(differences: Difference[]): string {
  const names = differences.slice(0, MAX_NAMES).map(({ path }) => path.replace(/\p{Cc}/gu, "?"));
  const more = differences.length > MAX_NAMES ? [`${differences.length - MAX_NAMES} more`] : [];
  return [...names, ...more].join(", ");
}

function violationOf([first]: Difference[], moved: string, iteration: number): Violation {
  return {
    type: "violation",
    iteration,
    what: `${moved}: the checks prove nothing`,
    file: first?.path ?? "",
  };
}
