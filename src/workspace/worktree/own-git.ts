import { readFileSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Captured } from "../../process/capture.js";
import { type Git, git, namesIn } from "../git.js";

/** Large files take their time. */
const COMMIT_MS = 30 * 60_000;

/** Work must not be lost to a hook, a line ending, or a key that nobody unlocks at night. */
const SAFELY = ["-c", "core.hooksPath=/dev/null", "-c", "core.safecrlf=false", "-c", "commit.gpgSign=false"];

const NOT_STARTED: Captured = {
  ok: false,
  stdout: "",
  stderr: "interrupted",
  exitCode: null,
  signal: null,
  durationMs: 0,
  timedOut: false,
};

/** git in a run's own worktree, and never in a repository around it. */
export function ownGit(path: string, stop: AbortSignal | undefined): Git {
  const usual = {
    env: { GIT_CEILING_DIRECTORIES: dirname(path) },
    timeoutMs: COMMIT_MS,
    ...(stop && { stop }),
  };
  return async (args, options) =>
    // A quick git would be done before it is ended.
    stop?.aborted ? NOT_STARTED : git(path, [...SAFELY, ...args], { ...usual, ...options });
}

/** The folder of git's records of that worktree alone; undefined: it is not a worktree of the origin any more. */
export async function ownRecords(path: string, origin: string, inTree: Git): Promise<string | undefined> {
  const [here, there] = [await recordsOf(inTree), await recordsOf((args) => git(origin, args))];
  if (here === undefined || here.common !== there?.common) return undefined;
  try {
    // An agent can write anything into `.git`, also the name of the user's checkout.
    const back = resolve(here.own, readFileSync(join(here.own, "gitdir"), "utf8").trim());
    return realpathSync(back) === realpathSync(join(path, ".git")) ? here.own : undefined;
  } catch {
    return undefined;
  }
}

async function recordsOf(run: Git): Promise<{ own: string; common: string } | undefined> {
  const what = ["--path-format=absolute", "--git-dir", "--git-common-dir"];
  const { ok, stdout } = await run(["rev-parse", ...what]);
  const [own = "", common = ""] = stdout.split("\n");
  return ok ? { own, common } : undefined;
}

/** Those of the files that git would add. */
export async function notIgnored(inTree: Git, files: string[]): Promise<string[]> {
  if (files.length === 0) return [];
  const { stdout } = await inTree(["ls-files", "--others", "--exclude-standard", "-z"]);
  const untracked = new Set(namesIn(stdout));
  return files.filter((file) => untracked.has(file));
}
