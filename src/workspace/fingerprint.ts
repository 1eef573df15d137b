import { existsSync, readdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import type { Capture } from "../process/run.js";
import { digest } from "../records/files.js";
import type { TreeState } from "../tree.js";
import { asText, pathIn, stateOf, statOf } from "./content.js";
import { git, namesIn, nulEnded, repositoryRoot } from "./git.js";
import { copyOfIndex, SEES_CHANGES } from "./index-file.js";

/** In a folder without a repository nothing says which files are made by programs. */
const SKIPPED = new Set([".git", ".ralph", ".ralph-active", "node_modules"]);
/** What git ignores may be work, but for what tools make and make again. */
const MADE_BY_TOOLS = new Set([
  ...SKIPPED,
  ...["__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox", ".venv", "venv"],
  ...[".cache", ".gradle", ".next", ".nuxt", ".turbo", "coverage"],
  ...["dist", "build", "obj", "target", "vendor"],
]);

/** Larger files are not read to find out whether they were changed. */
const MAX_READ_BYTES = 1024 * 1024;
/** There may be many of them, and nothing says that they matter. */
const MAX_IGNORED_BYTES = 64 * 1024;
/** More would take too long. */
const MAX_FILES = 20_000;

/** The words are the same before and after a commit. They mean nothing where `stop` is aborted. */
export async function treeState(workspace: string, stop?: AbortSignal): Promise<TreeState> {
  const inGit = await gitFiles(workspace, stop);
  const { others, stage, ignored, word: known } = inGit ?? { others: [""], stage: "", ignored: [], word: "" };
  const stamps = stampsOf(workspace, others, SKIPPED, MAX_READ_BYTES);
  const word = await digest([known, ...stamps.flat()].join("\0"));
  const isWork = (path: string): boolean => !path.split("/").some((name) => MADE_BY_TOOLS.has(name));
  const work = stampsOf(workspace, ignored.filter(isWork), MADE_BY_TOOLS, MAX_IGNORED_BYTES);
  return {
    word,
    content: work.length === 0 ? word : await digest([word, ...work.flat()].join("\0")),
    files: () => new Map([...staged(stage), ...stamps].map(([path, state]) => [asText(path), state])),
  };
}

/** A word for the content of all files that can be work: it is the same again as long as none was changed. */
export async function fingerprint(workspace: string, stop?: AbortSignal): Promise<string> {
  return (await treeState(workspace, stop)).content;
}

type Stamp = [path: string, state: string];

/**
 * The states of files. A path that ends in `/` is a folder: it stands for all below it but for names that are
 * skipped; links are not followed. Paths are `latin1`, so that bytes that are no UTF-8 keep their names.
 */
function stampsOf(root: string, paths: string[], skipped: Set<string>, maxBytes: number): Stamp[] {
  const stamps: Stamp[] = [];
  const left = paths.toReversed();
  for (let path = left.pop(); path !== undefined && stamps.length < MAX_FILES; path = left.pop()) {
    if (path === "" || path.endsWith("/")) left.push(...entriesOf(root, path, skipped).toReversed());
    else stamps.push([path, stateOf(pathIn(root, path), maxBytes)]);
  }
  return stamps;
}

function entriesOf(root: string, folder: string, skipped: Set<string>): string[] {
  try {
    const entries = readdirSync(pathIn(root, folder), { withFileTypes: true, encoding: "latin1" });
    const wanted = entries.filter(({ name }) => !skipped.has(name));
    return wanted.map((entry) => `${folder}${entry.name}${entry.isDirectory() ? "/" : ""}`).sort();
  } catch {
    return [];
  }
}

/** `mode hash stage TAB path`, each with its end. */
function staged(stage: string): Stamp[] {
  return namesIn(stage).map((entry) => {
    const at = entry.indexOf("\t");
    return [entry.slice(at + 1), entry.slice(0, at)];
  });
}

/**
 * An index of ralph's own, which holds the files of a workspace as they were seen last. git compares files with it
 * by their times, and reads those that were written since then. It writes no objects.
 */
interface OwnIndex {
  file: string;
  /** A word for the content of what git would commit. */
  word: string | undefined;
  /** The files that the word stands for, as `git ls-files --stage -z` lists them. */
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
function gitFiles(workspace: string, stop: AbortSignal | undefined): ReturnType<typeof update> {
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

/** Files that were written in the same second as the index are read each time: too many for that. */
const MANY = 500;
const SECOND_MS = 1000;

const HERE = ["--", ".", ":!.ralph"];
const CHANGED = ["--modified", "--deleted", "--others", "--exclude-standard"];
const IGNORED = ["--others", "--ignored", "--exclude-standard", "--directory"];
const UPDATE = ["--add", "--remove", "--replace", "--info-only"];

/** `others`: what the word does not stand for, files that are too large for git and repositories inside. */
async function update(own: OwnIndex, workspace: string, stop: AbortSignal | undefined) {
  const run = (args: string[], stdin?: Buffer): Promise<Capture> =>
    git(workspace, args, {
      env: { GIT_INDEX_FILE: own.file },
      settings: SEES_CHANGES,
      encoding: "latin1",
      ...(stop && { stop }),
      ...(stdin && { stdin }),
    });
  const list = (what: string[]): Promise<Capture> => run(["ls-files", "-z", ...what, ...HERE]);
  if (Date.now() >= own.renewAt) {
    // Also for times that a copied or moved repository brings with it.
    await run(["update-index", "-q", "--refresh", "--force-write-index"]);
    own.renewAt = Number.POSITIVE_INFINITY;
  }
  const [changed, ignored] = await Promise.all([list(CHANGED), list(IGNORED)]);
  if (!changed.ok || !ignored.ok) return undefined;
  const paths = [...new Set(namesIn(changed.stdout))];
  const isLarge = (path: string): boolean => {
    const stat = statOf(pathIn(workspace, path));
    return stat?.isFile() === true && stat.size > MAX_READ_BYTES;
  };
  const others = new Set(paths.filter((path) => path.endsWith("/") || isLarge(path)));
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
