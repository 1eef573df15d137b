import { join } from "node:path";
import { git, SOMEBODY } from "../../workspace/git.js";
import { unfinished } from "../../workspace/unfinished.js";
import type { Restoring } from "./stories.js";
import { readIfFile } from "./story-files.js";

type Uncommitted = Pick<Restoring, "workspace" | "inRepository" | "putBack">;

/** Nobody's hooks, keys or programs have a say in what is put back. */
const PLAIN = ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "commit.gpgSign=false"];

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
  const message = `ralph: put back ${differing.join(", ")}`;
  const args = [...PLAIN, "commit", "--quiet", "--no-verify", "-m", message, "--", ...differing];
  const asUser = await git(workspace, args);
  if (!asUser.ok) await git(workspace, [...SOMEBODY, ...args]);
}

/** A file that is not in the last commit is not ralph's to commit. */
async function differs(workspace: string, name: string): Promise<boolean> {
  const { ok, stdout } = await git(workspace, ["show", `HEAD:./${name}`]);
  return ok && stdout !== readIfFile(join(workspace, name));
}
