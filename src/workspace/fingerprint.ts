import { digest } from "../records/digest.js";
import type { TreeState } from "../tree.js";
import { type ChangeBy, stampsOf } from "./file-stamps.js";
import { git, repositoryRoot } from "./git.js";
import { type GitLook, lookByIndex, MAX_READ_BYTES } from "./own-index.js";

/** In a folder without a repository nobody says what is made by programs. */
const SKIPPED = new Set([".git", ".ralph", ".ralph-active", "node_modules"]);
/** What git ignores may be work, but for what tools make and make again. */
const MADE_BY_TOOLS = new Set([
  ...SKIPPED,
  "__pycache__",
  ".pytest_cache",
  ".mypy_cache",
  ".ruff_cache",
  ".tox",
  ".venv",
  "venv",
  ".cache",
  ".gradle",
  ".next",
  ".nuxt",
  ".turbo",
  "coverage",
  "dist",
  "build",
  "obj",
  "target",
  "vendor",
]);

/** There may be many of them, and nobody has said that they matter. */
const MAX_IGNORED_BYTES = 64 * 1024;

/**
 * A word for the state of the files: it is the same again as long as none was changed. By content it is the same
 * before and after a commit, too. Where `stop` is aborted it means nothing.
 */
export async function fingerprint(workspace: string, by: ChangeBy, stop?: AbortSignal): Promise<string> {
  return (await seenIn(workspace, by, stop)).content;
}

/** The same by content, with the files that git does not ignore. */
export async function lookAt(workspace: string, stop?: AbortSignal): Promise<TreeState> {
  const { word, content, stage, stamps } = await seenIn(workspace, "content", stop);
  return { word, content, files: () => new Map([...staged(stage), ...pairsOf(stamps)]) };
}

interface Seen extends Pick<TreeState, "word" | "content"> {
  stage: string;
  /** Paths that are not in it, each with a word behind it. */
  stamps: string[];
}

async function seenIn(workspace: string, by: ChangeBy, stop: AbortSignal | undefined): Promise<Seen> {
  const look =
    (by === "content" ? await lookByIndex(workspace, stop) : undefined) ??
    (await lookByStatus(workspace, stop));
  const whole = { by, skipped: SKIPPED, maxBytes: MAX_READ_BYTES };
  const { root, others, stage = "" } = look ?? { root: workspace, others: [""] };
  const stamps = stampsOf(root, others, whole);
  const word = await digest([look?.word ?? "", ...stamps].join("\0"));
  const isWork = (path: string): boolean => !path.split("/").some((name) => MADE_BY_TOOLS.has(name));
  const ignored = look?.ignored.filter(isWork) ?? [];
  const part = { by, skipped: MADE_BY_TOOLS, maxBytes: MAX_IGNORED_BYTES };
  const content =
    ignored.length === 0 ? word : await digest([word, ...stampsOf(root, ignored, part)].join("\0"));
  return { word, content, stage, stamps };
}

/** `mode hash stage TAB path`, each with its end. */
function staged(stage: string): [path: string, word: string][] {
  return stage.split("\0").flatMap((entry) => {
    const at = entry.indexOf("\t");
    return at === -1 ? [] : [[shown(entry.slice(at + 1)), entry.slice(0, at)]];
  });
}

function pairsOf(stamps: string[]): [path: string, word: string][] {
  return stamps.flatMap((path, index) => (index % 2 === 0 ? [[shown(path), stamps[index + 1] ?? ""]] : []));
}

/** Paths are kept byte by byte. */
function shown(path: string): string {
  return Buffer.from(path, "latin1").toString("utf8");
}

const STATUS = ["--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--ignored=matching"];

/** What differs from HEAD, HEAD included; undefined outside a repository. */
async function lookByStatus(workspace: string, stop: AbortSignal | undefined): Promise<GitLook | undefined> {
  const root = repositoryRoot(workspace);
  if (root === undefined) return undefined;
  const args = [
    "--no-optional-locks",
    "status",
    ...STATUS,
    "--ignore-submodules=dirty",
    "--",
    ".",
    ":!.ralph",
  ];
  const { ok, stdout } = await git(workspace, args, { encoding: "latin1", ...(stop && { stop }) });
  if (!ok) return undefined;
  const all = stdout.split("\0");
  // A rename is followed by its old name, which can look like anything.
  const entries = all.filter((_, index) => !all[index - 1]?.startsWith("2 "));
  const isIgnored = (entry: string): boolean => entry.startsWith("! ");
  const changed = entries.filter((entry) => !isIgnored(entry));
  const ignored = entries.filter(isIgnored).map((entry) => entry.slice(2));
  return { root, word: changed.join("\0"), others: changed.flatMap(pathIn), ignored };
}

/** Fields before the path in a line of `git status --porcelain=v2`, by the kind of the line. */
const FIELDS: Record<string, number> = { "1": 8, "2": 9, u: 10, "?": 1 };

function pathIn(entry: string): string[] {
  const fields = FIELDS[entry.split(" ", 1)[0] ?? ""];
  return fields === undefined ? [] : [entry.split(" ").slice(fields).join(" ")];
}
