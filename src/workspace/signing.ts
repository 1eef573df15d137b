import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { git } from "./git.js";

/** A key that is unlocked signs within a second; one that waits for its passphrase, or for a touch, waits for ever. */
const SIGN_MS = 5000;

/** Why git cannot sign a commit that the user wants signed; undefined: it can, or nobody wants that. */
export async function whyNotSigned(workspace: string, stop: AbortSignal): Promise<string | undefined> {
  const asked = await git(workspace, ["config", "--type=bool", "--get", "commit.gpgSign"]);
  if (asked.stdout.trim() !== "true") return undefined;
  const { stdout: tree } = await git(workspace, ["hash-object", "-t", "tree", "--stdin"], { stdin: "" });
  const objects = mkdtempSync(join(tmpdir(), "ralph-sign-"));
  try {
    const args = ["commit-tree", "-S", "-m", "Whether it can be signed", tree.trim()];
    const env = { GIT_OBJECT_DIRECTORY: objects };
    const { ok, timedOut, stderr } = await git(workspace, args, { env, stop, timeoutMs: SIGN_MS });
    if (ok) return undefined;
    const said = timedOut ? `it took more than ${SIGN_MS / 1000} seconds` : stderr.trim();
    return `git cannot sign the commit, as commit.gpgSign asks for: ${said} (unlock the key before the run, or set commit.gpgSign to false in this repository)`;
  } finally {
    rmSync(objects, { recursive: true, force: true });
  }
}
