import { readdirSync } from "node:fs";
import { digest } from "../records/digest.js";
import { pathIn, stateOf } from "./content.js";
import { namesIn } from "./git.js";
import { gitFiles, MAX_READ_BYTES } from "./own-index.js";

/** In a folder without a repository nothing says which files are made by programs. */
const SKIPPED = new Set([".git", ".ralph", ".ralph-active", "node_modules"]);
/** What git ignores may be work, but for what tools make and make again. */
const MADE_BY_TOOLS = new Set([
  ...SKIPPED,
  ...["__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox", ".venv", "venv"],
  ...[".cache", ".gradle", ".next", ".nuxt", ".turbo", "coverage"],
  ...["dist", "build", "obj", "target", "vendor"],
]);

/** There may be many of them, and nothing says that they matter. */
const MAX_IGNORED_BYTES = 64 * 1024;
/** More would take too long. */
const MAX_FILES = 20_000;

/** The files of a workspace at one moment. */
export interface TreeState {
  /** A word for the content of those that git does not ignore. */
  word: string;
  /** A word for the content of all that can be work. */
  content: string;
  /** The paths that the first word is about, each with a word for its content. */
  files(): ReadonlyMap<string, string>;
}

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

function asText(path: string): string {
  return Buffer.from(path, "latin1").toString("utf8");
}
