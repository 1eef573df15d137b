import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { LoopEventBody } from "../events.js";
import type { Tree, TreeState, Verification } from "../tree.js";
import { type CheckResult, hasFailed } from "./check.js";

type Results = AsyncGenerator<LoopEventBody, CheckResult[] | undefined>;

/** Long enough for a process that writes again and again to be seen. */
const SETTLE_MS = 100;

/**
 * Runs checks so that the tree they judged is the tree that is there when they have ended. If files changed
 * meanwhile, the checks run once more (`again` says why): files that change again are the checks' own. Results
 * that passed on files that something else changed are void.
 */
export async function* onOneTree(
  run: (again?: string) => Results,
  { tree, iteration }: Pick<Verification, "tree" | "iteration">,
): Results {
  const before = tree && (tree.before ?? (await tree.read()));
  const first = yield* run();
  if (tree === undefined || before === undefined || first === undefined || first.some(hasFailed))
    return first;
  const after = await tree.read();
  const changed = differences(before, after).filter((one) => !isAmong(one, tree.own));
  if (changed.length === 0) return first;

  const second = yield* run(`${namesOf(changed)} changed while the checks ran`);
  if (second === undefined) return undefined;
  const passed = !second.some(hasFailed);
  const strange = await strangeIn(tree, { changed, after, passed });
  if (strange.length === 0) return second;
  const why = `${namesOf(strange)} changed while the checks ran, and not by them`;
  const what = `${why}: the checks prove nothing`;
  yield { type: "violation", iteration, what, file: strange[0]?.path ?? "" };
  if (!passed) return second;
  const voided = second.map((one) => ({ ...one, event: { ...one.event, passed: false, why } }));
  yield* voided.map(({ event }) => event);
  return voided;
}

interface SecondPass {
  /** During the first one. */
  changed: Difference[];
  /** The tree after the first one. */
  after: TreeState;
  passed: boolean;
}

/** What makes the checks prove nothing, after their second pass. */
async function strangeIn(tree: Tree, { changed, after, passed }: SecondPass): Promise<Difference[]> {
  const last = await tree.read();
  const again = differences(after, last);
  const [early, late] = [keysOf(changed), keysOf(again)];
  const isOwn = (one: Difference): boolean => isAmong(one, late);
  if (changed.some(isOwn)) {
    // Files that go on changing while no check runs are not the checks' own.
    await sleep(SETTLE_MS);
    if ((await tree.read()).word !== last.word) return changed;
    for (const key of keysOf(changed.filter(isOwn))) tree.own.add(key);
  }
  return passed
    ? again.filter((one) => !isAmong(one, early) && !isAmong(one, tree.own))
    : changed.filter((one) => !isOwn(one));
}

interface Difference {
  path: string;
  /** Of a file that appeared or went away: its folder, and the one around it that is there both times. */
  places: string[];
}

function differences(before: TreeState, after: TreeState): Difference[] {
  if (before.word === after.word) return [];
  const [earlier, later] = [before.files(), after.files()];
  const folders = { before: foldersOf(earlier), after: foldersOf(later) };
  return [...new Set([...earlier.keys(), ...later.keys()])].flatMap((path) => {
    const [then, now] = [earlier.get(path), later.get(path)];
    if (then === now) return [];
    if (then !== undefined && now !== undefined) return [{ path, places: [] }];
    return [{ path, places: placesOf(path, then === undefined ? folders.before : folders.after) }];
  });
}

/** No path of a file ends like them. */
function placesOf(path: string, folders: Set<string>): string[] {
  let folder = dirname(path);
  while (folder !== "." && !folders.has(folder)) folder = dirname(folder);
  return [`${dirname(path)}/`, `${folder}/`];
}

/** Every folder that holds a file, at any depth. */
function foldersOf(files: ReadonlyMap<string, string>): Set<string> {
  const folders = new Set<string>();
  for (const path of files.keys()) {
    for (let folder = dirname(path); folder !== "." && !folders.has(folder); folder = dirname(folder))
      folders.add(folder);
  }
  return folders;
}

/** Checks may name a file, or the folder that it is in, anew each time: the folder around that is what stays. */
function keysOf(differences: Difference[]): Set<string> {
  return new Set(differences.flatMap(({ path, places }) => [path, ...places]));
}

function isAmong({ path, places }: Difference, keys: Set<string>): boolean {
  return keys.has(path) || places.some((place) => keys.has(place));
}

const MAX_NAMES = 3;

function namesOf(differences: Difference[]): string {
  const names = differences.slice(0, MAX_NAMES).map(({ path }) => path.replace(/\p{Cc}/gu, "?"));
  const more = differences.length > MAX_NAMES ? [`${differences.length - MAX_NAMES} more`] : [];
  return [...names, ...more].join(", ");
}
