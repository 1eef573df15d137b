import { join } from "node:path";
import { commitPutBack } from "../../workspace/commit-put-back.js";
import { git } from "../../workspace/git.js";
import { unfinished } from "../../workspace/unfinished.js";
import type { Restoring } from "./stories.js";
import { readIfFile } from "./story-files.js";

type Uncommitted = Pick<Restoring, "workspace" | "inRepository" | "putBack">;

/**
 * What was put back is committed as well, and nothing else: else a checkout would bring the other back. Where git
 * refuses, the next iteration finds that it is not committed.
 */
export async function commitBack({ workspace, inRepository, putBack }: Uncommitted): Promise<void> {
  const names = [...putBack];
  putBack.clear();
  if (!inRepository) return;
  const differing: string[] = [];
  for (const name of names) if (await differs(workspace, name)) differing.push(name);
  if (differing.length === 0 || (await unfinished(workspace)) !== undefined) return;
  const stdin = differing.map((name) => `${name}\0`).join("");
  const update = { args: ["--add", "--remove", "-z", "--stdin"], stdin };
  const failure = await commitPutBack(workspace, differing, update);
  if (failure === undefined) await git(workspace, ["update-index", ...update.args], { stdin });
}

/** A file that was never committed is not ralph's to commit. */
async function differs(workspace: string, name: string): Promise<boolean> {
  const { ok, stdout } = await git(workspace, ["show", `HEAD:./${name}`]);
  if (ok) return stdout !== readIfFile(join(workspace, name));
  const { stdout: commit } = await git(workspace, ["rev-list", "-1", "HEAD", "--", name]);
  return commit.trim() !== "";
}
