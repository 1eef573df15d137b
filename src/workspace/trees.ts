import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import { orElse, toRalphError } from "../errors.js";
import { has, readJson } from "../records/files.js";
import { pathIn, statOf } from "./content.js";
import {
  type Git,
  type GitOptions,
  git,
  gitFolder,
  gitFolders,
  namesIn,
  nulEnded,
  repositoryRoot,
  untracked,
} from "./git.js";
import { SEES_CHANGES } from "./index-file.js";
import { ACTIVE_FILE, RUNTIME_FOLDER } from "./runtime.js";

/** The files of a run at the end of each of its iterations, as trees of git beside its records. */
export interface Trees {
  /** Before the first iteration. true: nobody had recorded that before. */
  begin(): Promise<boolean>;
  /** After one that may have changed files. */
  take(iteration: number): Promise<void>;
}

const OWN = [`**/${RUNTIME_FOLDER}`, `**/${RUNTIME_FOLDER}/**`, `**/${ACTIVE_FILE}`];
const CHANGED = ["ls-files", "-z", "--modified", "--deleted"];
/** Of more files than that only their digests are kept, and of larger ones nothing. */
const MOST_FILES = 5000;
const MOST_BYTES = 20 * 1024 * 1024;

/** `folder`: of the records. What cannot be taken down, as on a full disk, is left out. `hidden`: no work of the run. */
export function openTrees(workspace: string, folder: string, hidden: string[]): Trees | undefined {
  const root = repositoryRoot(workspace);
  if (root === undefined) return undefined;
  const store = storeIn(folder);
  const run = inStore(root, store, store.index);
  const attempt = async (action: () => Promise<void>): Promise<boolean> => {
    try {
      await action();
      return true;
    } catch (error) {
      if (toRalphError(error) === undefined) throw error;
      return false;
    }
  };
  return {
    begin: async () =>
      !existsSync(store.begin) &&
      attempt(async () => {
        mkdirSync(store.objects, { recursive: true, mode: 0o700 });
        const own = join(gitFolder(root), "index");
        if (existsSync(own)) copyPrivate(own, store.index);
        await bringUpToDate(root, run, hidden);
        // Its tree is made when somebody asks for it.
        if (existsSync(store.index)) copyFileSync(store.index, store.begin);
      }),
    take: async (iteration) =>
      void (await attempt(async () => {
        if (!existsSync(store.objects) || !(await bringUpToDate(root, run, hidden))) return;
        const { ok, stdout } = await run(["write-tree", "--missing-ok"]);
        const line = `${JSON.stringify({ iteration, tree: stdout.trim() })}\n`;
        if (ok) appendFileSync(store.list, line, { mode: 0o600 });
      })),
  };
}

/** A copy has the mode of its source. */
function copyPrivate(source: string, target: string): void {
  copyFileSync(source, target);
  chmodSync(target, 0o600);
}

function storeIn(folder: string) {
  const store = join(folder, "trees");
  const [objects, index, begin, list] = ["objects", "index", "begin", "list.ndjson"].map((name) =>
    join(store, name),
  ) as [string, string, string, string];
  return { objects, index, begin, list };
}

/** git that reads objects of the repository and writes them into the store. */
function inStore(root: string, { objects }: ReturnType<typeof storeIn>, index: string): Git {
  const shared = join(gitFolders(root)[0] ?? "", "objects");
  const env = {
    GIT_INDEX_FILE: index,
    GIT_OBJECT_DIRECTORY: objects,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(shared),
  };
  return (args, more) =>
    git(root, args, { ...more, env, settings: SEES_CHANGES, encoding: "latin1", makesPrivate: true });
}

/** Whether the index is another one now: neither where no file differs nor where git cannot tell. */
async function bringUpToDate(root: string, run: Git, hidden: string[]): Promise<boolean> {
  const all = await differing(run, ["--others", "--exclude-standard"], hidden);
  const names = all?.filter((name) => (statOf(pathIn(root, name))?.size ?? 0) <= MOST_BYTES);
  if (names === undefined || names.length === 0) return false;
  const args = ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"];
  const few = names.length > MOST_FILES ? ["--info-only"] : [];
  const stdin = Buffer.from(nulEnded(names), "latin1");
  return (await run([...args.slice(0, 4), ...few, ...args.slice(4)], { stdin })).ok;
}

/** Files that are not as the index has them; `others` says which new ones count. undefined: git cannot tell. */
async function differing(run: Git, others: string[], hidden: string[]): Promise<string[] | undefined> {
  const without = [
    ...OWN.map((path) => `:(exclude,glob)${path}`),
    ...hidden.map((path) => `:(top,exclude,literal)${path}`),
  ];
  const { ok, stdout } = await run([...CHANGED, ...others, "--", ".", ...without]);
  // A repository inside has a name that ends in a slash.
  return ok ? [...new Set(namesIn(stdout))].filter((name) => !name.endsWith("/")) : undefined;
}

/** Whether nobody has written the index since `begun`, nor any file. false: somebody has, or git cannot tell. */
export async function areAsBegun(
  root: string,
  folder: string,
  hidden: string[],
  begun: Date,
): Promise<boolean> {
  const store = storeIn(folder);
  const index = statOf(join(gitFolder(root), "index"));
  // Where git knows no file, there is no index, neither then nor now.
  const isSame = existsSync(store.begin) ? index && index.ctime < begun : !index && existsSync(store.objects);
  if (!isSame) return false;
  return (await differing(inStore(root, store, store.begin), untracked(root), hidden))?.length === 0;
}

/** Trees by the iteration at whose end they were taken; 0: before the first one. Those that changed nothing have none. */
export async function treesIn(folder: string, repository: string): Promise<Map<number, string>> {
  const store = storeIn(folder);
  const trees = new Map<number, string>();
  if (!existsSync(store.begin)) return trees;
  const { ok, stdout } = await inStore(repository, store, store.begin)(["write-tree", "--missing-ok"]);
  if (ok) trees.set(0, stdout.trim());
  const lines = existsSync(store.list) ? readFileSync(store.list, "utf8").split("\n") : [];
  for (const line of lines) {
    // A last line may be torn.
    const entry: unknown = orElse(() => JSON.parse(line), undefined);
    if (has(entry, { iteration: "number", tree: "string" }))
      trees.set(Number(entry["iteration"]), String(entry["tree"]));
  }
  return trees;
}

/** The tree of what is in a workspace now, for a look: only the store is written. */
export async function treeNow(
  workspace: string,
  folder: string,
  hidden: string[],
): Promise<string | undefined> {
  const root = repositoryRoot(workspace);
  const store = storeIn(folder);
  if (root === undefined || !existsSync(store.begin)) return undefined;
  const copy = `${store.index}.${process.pid}`;
  try {
    copyFileSync(store.index, copy);
    const run = inStore(root, store, copy);
    await bringUpToDate(root, run, hidden);
    const { ok, stdout } = await run(["write-tree", "--missing-ok"]);
    return ok ? stdout.trim() : undefined;
  } finally {
    rmSync(copy, { force: true });
  }
}

/** For git commands that read these trees. */
export function readingTrees(folder: string): Required<Pick<GitOptions, "env">> {
  return { env: { GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(storeIn(folder).objects) } };
}

/** The file that says what was copied into the checkout of a lane. */
export function copiedFile(records: string): string {
  return join(records, "copied.json");
}

/** undefined: the checkout was not made to its end. */
export function copiedInto(records: string): string[] | undefined {
  const known = readJson(copiedFile(records));
  return Array.isArray(known) ? known.map(String) : undefined;
}
