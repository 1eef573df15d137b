import { mkdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { git } from "./git.js";
import { withIndexCopy } from "./index-copy.js";

/**
 * What a commit of everything would hold, as git lists it: it is the same before and after that commit.
 * undefined where git cannot tell. The repository is left as it is.
 */
export async function contentTree(
  workspace: string,
  root: string,
  changed: string[],
): Promise<string | undefined> {
  if (changed.length === 0) return entriesOf(workspace, "HEAD:./");
  return withIndexCopy(root, async ({ env: { GIT_INDEX_FILE }, settings }) => {
    const env = { GIT_INDEX_FILE, ...(await ownObjects(workspace, dirname(GIT_INDEX_FILE))) };
    const stdin = changed.map((path) => `${path}\0`).join("");
    const update = [...settings, "update-index", "--add", "--remove", "--replace", "-z", "--stdin"];
    const updated = await git(root, update, { env, stdin });
    const below = relative(root, workspace);
    const prefix = below === "" ? [] : [`--prefix=${below}/`];
    const written = updated.ok && (await git(root, [...settings, "write-tree", ...prefix], { env }));
    return written !== false && written.ok ? entriesOf(root, written.stdout.trim(), env) : undefined;
  });
}

/** New objects go where they are thrown away. */
async function ownObjects(workspace: string, folder: string): Promise<Record<string, string>> {
  const { stdout } = await git(workspace, ["rev-parse", "--path-format=absolute", "--git-path", "objects"]);
  const objects = join(folder, "objects");
  mkdirSync(objects);
  return { GIT_OBJECT_DIRECTORY: objects, GIT_ALTERNATE_OBJECT_DIRECTORIES: stdout.replace(/\n$/, "") };
}

/** Without the folder of ralph, which is no work of an agent. */
async function entriesOf(
  workspace: string,
  tree: string,
  env: Record<string, string> = {},
): Promise<string | undefined> {
  const { ok, stdout } = await git(workspace, ["ls-tree", "-z", "--full-tree", tree], { env });
  const entries = stdout.split("\0").filter((entry) => !entry.endsWith("\t.ralph"));
  return ok ? entries.join("\0") : undefined;
}
