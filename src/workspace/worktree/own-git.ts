import { readFileSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Captured } from "../../process/capture.js";
import { git } from "../git.js";
import type { Git } from "../inner-repositories.js";

export type { Git };

/** Large files take their time. */
const COMMIT_MS = 30 * 60_000;

/** Work must not be lost to a hook, a line ending, or a key that nobody unlocks at night. */
const SAFELY = ["-c", "core.hooksPath=/dev/null", "-c", "core.safecrlf=false", "-c", "commit.gpgSign=false"];

/** git in a run's own worktree, and never in a repository around it. */
export function ownGit(path: string, stop: AbortSignal | undefined): Git {
  const env = { GIT_CEILING_DIRECTORIES: dirname(path) };
  const usual = { env, timeoutMs: COMMIT_MS, ...(stop && { stop }) };
  return async (args, options) =>
    // A git that is quick would be done before it is ended.
    stop?.aborted ? NOT_STARTED : git(path, [...SAFELY, ...args], { ...usual, ...options });
}

const NOT_STARTED: Captured = {
  ok: false,
  stdout: "",
  stderr: "interrupted",
  exitCode: null,
  signal: null,
  durationMs: 0,
  timedOut: false,
};

/** The folder of git's records of that worktree alone; undefined where it is not a worktree of the origin any more. */
export async function ownRecords(path: string, origin: string, inTree: Git): Promise<string | undefined> {
  const [here, there] = [await recordsOf(inTree), await recordsOf((args) => git(origin, args))];
  if (here === undefined || here.common !== there?.common) return undefined;
  return leadsTo(here.own, join(path, ".git")) ? here.own : undefined;
}

async function recordsOf(run: Git): Promise<{ own: string; common: string } | undefined> {
  const what = ["--path-format=absolute", "--git-dir", "--git-common-dir"];
  const { ok, stdout } = await run(["rev-parse", ...what]);
  const [own = "", common = ""] = stdout.split("\n");
  return ok ? { own, common } : undefined;
}

/** An agent can write anything into `.git`, also the name of the user's checkout. */
function leadsTo(records: string, link: string): boolean {
  try {
    const back = resolve(records, readFileSync(join(records, "gitdir"), "utf8").trim());
    return realpathSync(back) === realpathSync(link);
  } catch {
    return false;
  }
}
