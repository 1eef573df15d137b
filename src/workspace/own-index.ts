import { existsSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import type { Captured } from "../process/capture.js";
import { digest } from "../records/digest.js";
import { pathIn, statOf } from "./content.js";
import { git, namesIn, nulEnded, repositoryRoot } from "./git.js";
import { copyOfIndex } from "./index-file.js";

/** What git knows of the files of a workspace. Names of folders end in `/`; all names are `latin1`. */
export interface GitFiles {
  /** A word for the content of what git would commit: it is the same before and after that. */
  word: string;
  /** The files that the word stands for, as `git ls-files --stage -z` lists them. */
  stage: string;
  /** What the word does not stand for: files that are too large for git, and repositories inside. */
  others: string[];
  ignored: string[];
}

/**
 * An index of ralph's own, which holds the files of a workspace as they were seen last. git compares files with it
 * by their times, and reads those that were written since then. It writes no objects.
 */
interface OwnIndex {
  file: string;
  word: string | undefined;
  stage: string;
  /** When to write it anew, in milliseconds. */
  renewAt: number;
  /** The question that git is answering: the next one waits for it. */
  turn: Promise<unknown>;
}

const indexes = new Map<string, OwnIndex>();

process.once("exit", () => {
  for (const workspace of indexes.keys()) forget(workspace);
});

/** undefined where git cannot tell, or was stopped. */
export function gitFiles(workspace: string, stop?: AbortSignal): Promise<GitFiles | undefined> {
  const own = indexOf(workspace);
  if (own === undefined) return Promise.resolve(undefined);
  const found = own.turn.then(() => update(own, workspace, stop));
  own.turn = found.then(
    // What git has left half done is not reliable.
    (files) => files ?? forget(workspace),
    () => forget(workspace),
  );
  return found;
}

function indexOf(workspace: string): OwnIndex | undefined {
  const own = indexes.get(workspace);
  if (own !== undefined && existsSync(dirname(own.file))) return own;
  const root = repositoryRoot(workspace);
  const file = root === undefined ? undefined : copyOfIndex(root);
  if (file === undefined) return undefined;
  const made = { file, word: undefined, stage: "", renewAt: 0, turn: Promise.resolve() };
  indexes.set(workspace, made);
  return made;
}

function forget(workspace: string): void {
  const own = indexes.get(workspace);
  indexes.delete(workspace);
  if (own !== undefined) rmSync(dirname(own.file), { recursive: true, force: true });
}

/** Larger files are not read to find out whether they were changed. */
export const MAX_READ_BYTES = 1024 * 1024;

/** Files that were written in the same second as the index are read each time: too many for that. */
const MANY = 500;
const SECOND_MS = 1000;

/** An agent must not be able to make git blind to changes. */
const SETTINGS: [name: string, value: string][] = [
  // A split index would write its shared part beside the user's own.
  ["core.splitIndex", "false"],
  ["core.untrackedCache", "false"],
  ["core.trustctime", "true"],
  ["core.checkStat", "default"],
  ["core.ignoreStat", "false"],
];

const HERE = ["--", ".", ":!.ralph"];
const CHANGED = ["--modified", "--deleted", "--others", "--exclude-standard"];
const IGNORED = ["--others", "--ignored", "--exclude-standard", "--directory"];
const UPDATE = ["--add", "--remove", "--replace", "--info-only"];

async function update(
  own: OwnIndex,
  workspace: string,
  stop: AbortSignal | undefined,
): Promise<GitFiles | undefined> {
  const run = (args: string[], stdin?: Buffer): Promise<Captured> =>
    git(workspace, args, {
      env: { GIT_INDEX_FILE: own.file },
      settings: SETTINGS,
      encoding: "latin1",
      ...(stop && { stop }),
      ...(stdin && { stdin }),
    });
  const list = (what: string[]): Promise<Captured> => run(["ls-files", "-z", ...what, ...HERE]);
  if (Date.now() >= own.renewAt) {
    // Also for times that a copied or moved repository brings with it.
    await run(["update-index", "-q", "--refresh", "--force-write-index"]);
    own.renewAt = Number.POSITIVE_INFINITY;
  }
  const [changed, ignored] = await Promise.all([list(CHANGED), list(IGNORED)]);
  if (!changed.ok || !ignored.ok) return undefined;
  const paths = [...new Set(namesIn(changed.stdout))];
  const isOther = (path: string): boolean => path.endsWith("/") || sizeOf(workspace, path) > MAX_READ_BYTES;
  const others = new Set(paths.filter(isOther));
  const taken = paths.filter((path) => !others.has(path));
  if (taken.length > 0 || own.word === undefined) {
    const stdin = Buffer.from(nulEnded(taken), "latin1");
    if (!(await run(["update-index", ...UPDATE, "-z", "--stdin"], stdin)).ok) return undefined;
    const all = await list(["--stage"]);
    if (!all.ok) return undefined;
    own.word = await digest(all.stdout);
    own.stage = all.stdout;
    if (taken.length >= MANY) own.renewAt = Date.now() + SECOND_MS;
  }
  return { word: own.word, stage: own.stage, others: [...others], ignored: namesIn(ignored.stdout) };
}

function sizeOf(root: string, path: string): number {
  const stat = statOf(pathIn(root, path));
  return stat?.isFile() ? stat.size : 0;
}
