import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { RalphError } from "../errors.js";
import { makePrivateFolder, readJson, writeAtomic } from "../records/files.js";
import { ralphHome } from "../records/home.js";
import { inTurn } from "../records/lock.js";
import { type GitOptions, git, SOMEBODY } from "../workspace/git.js";
import { ownGit } from "../workspace/worktree/worktree.js";
import { type Forge, fullName, type Repo, waitAfter } from "./forge.js";

const PUSH_MS = 10 * 60_000;
const TRIES = 4;
/** Of all ralphs of this machine: more would look like an attack. */
const MOST_A_MINUTE = 6;
const MINUTE_MS = 60_000;

/**
 * Moves a branch on the forge from `expected` (null: it is not there) to a commit. It is never forced, so that nothing
 * that somebody pushed is overwritten. `moved`: the branch has commits by now that the new one has not.
 */
export async function pushBranch(
  forge: Forge,
  checkout: string,
  { branch, tip, expected }: { branch: string; tip: string; expected: string | null },
  tell: (text: string) => void,
): Promise<"pushed" | "there" | "moved"> {
  for (let lost = 0; ; lost += 1) {
    const now = (await forge.branch(branch)) ?? null;
    if (now === tip) return lost === 0 ? "there" : "pushed";
    if (now !== expected && !(await isPartOf(checkout, now, tip))) return "moved";
    await takeTurn(tell);
    const result = await pushed(forge, checkout, branch, tip);
    if (!(result instanceof RalphError)) return result;
    // Its answer may have got lost: the next look tells.
    if (result.code !== "forge_unreachable" || lost + 1 >= TRIES) throw result;
    await sleep(waitAfter(lost));
  }
}

/** Somebody may have taken over by hand what others pushed. */
async function isPartOf(checkout: string, commit: string | null, tip: string): Promise<boolean> {
  return commit !== null && (await git(checkout, ["merge-base", "--is-ancestor", commit, tip])).ok;
}

async function pushed(
  forge: Forge,
  checkout: string,
  branch: string,
  tip: string,
): Promise<"pushed" | "moved" | RalphError> {
  const { repo } = forge;
  const args = ["push", "--porcelain", repo.remote, `${tip}:refs/heads/${branch}`];
  const { ok, stdout, stderr } = await git(checkout, args, pushOptions(forge));
  if (ok) return "pushed";
  if (/\[rejected\]/.test(stdout)) return "moved";
  // Another push came at the same moment.
  if (/failed to update ref/.test(stdout)) return unreachable(repo, stderr);
  if (/\[remote rejected\]/.test(stdout)) return refused(branch, stdout, stderr);
  return isDenied(stderr) ? denied(forge, stderr) : unreachable(repo, stderr);
}

/** Brings a branch of the forge here; returns its commit. */
export async function fetchBranch(forge: Forge, checkout: string, branch: string): Promise<string> {
  const { remote } = forge.repo;
  for (let tries = 1; ; tries += 1) {
    const tip = await forge.branch(branch);
    if (tip === undefined)
      throw new RalphError(`the branch ${branch} is gone from ${forge.repo.host}`, {
        code: "branch_gone",
        exitCode: 1,
      });
    const args = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", remote, `refs/heads/${branch}`];
    const { stderr } = await git(checkout, args, pushOptions(forge));
    if ((await git(checkout, ["cat-file", "-e", `${tip}^{commit}`])).ok) return tip;
    if (isDenied(stderr)) throw denied(forge, stderr);
    if (tries >= TRIES) throw unreachable(forge.repo, stderr);
    await sleep(waitAfter(tries - 1));
  }
}

function pushOptions({ gitSettings }: Forge): GitOptions {
  return {
    timeoutMs: PUSH_MS,
    settings: [
      ...gitSettings,
      // A server that is silent for so many seconds is given up.
      ["http.lowSpeedLimit", "1"],
      ["http.lowSpeedTime", "30"],
    ],
  };
}

/** Waits until a push is not one too many. */
async function takeTurn(tell: (text: string) => void): Promise<void> {
  const home = ralphHome();
  makePrivateFolder(home);
  const file = join(home, "pushes.json");
  for (;;) {
    const waitMs = inTurn(`${file}.lock`, () => {
      const now = Date.now();
      const known = readJson(file);
      const recent = (Array.isArray(known) ? known : []).filter(
        (at) => typeof at === "number" && at > now - MINUTE_MS && at <= now,
      ) as number[];
      const first = recent.at(-MOST_A_MINUTE);
      if (first !== undefined) return first + MINUTE_MS - now;
      writeAtomic(file, JSON.stringify([...recent, now]));
      return 0;
    });
    if (waitMs <= 0) return;
    tell(`${MOST_A_MINUTE} pushes a minute are enough: the next one in ${Math.ceil(waitMs / 1000)} s`);
    await sleep(waitMs);
  }
}

/** A 403 without a word of the server is one of its limits, which git does not wait out. */
const isDenied = (stderr: string): boolean =>
  /authentication failed|could not read (?:username|password)|permission (?:to .* )?denied|\b401\b|repository not found/i.test(
    stderr,
  ) || /^remote: [\s\S]*\b403\b/m.test(stderr);

/** What the server said, without what git adds. */
function saidBy(stderr: string): string {
  const lines = stderr.split("\n").flatMap((line) => /^remote: ?(.*\S)/.exec(line)?.[1] ?? []);
  const [first = stderr.trim().split("\n")[0] ?? "", ...more] = lines;
  return [first, ...more.slice(0, 2)].join("; ");
}

function refused(branch: string, stdout: string, stderr: string): RalphError {
  const [, why = ""] = /\[remote rejected\] \((.*)\)/.exec(stdout) ?? [];
  return new RalphError(`the push of ${branch} is refused: ${saidBy(stderr)} (${why})`, {
    code: "push_refused",
    exitCode: 1,
    hint: "look at the rules for branches in the settings of the repository: ralph/** must be open to pushes",
  });
}

function denied({ repo, commands }: Forge, stderr: string): RalphError {
  return new RalphError(`git may not push to ${repo.host}/${fullName(repo)}: ${saidBy(stderr)}`, {
    code: "push_denied",
    exitCode: 1,
    hint: `${commands.gitLogin} gives git a login; or look at the address: git remote get-url ${repo.remote}`,
  });
}

function unreachable(repo: Repo, stderr: string): RalphError {
  return new RalphError(`git cannot reach ${repo.host}: ${saidBy(stderr)}`, {
    code: "forge_unreachable",
    exitCode: 1,
    hint: "check the network, then try again",
  });
}

/**
 * Brings what others pushed into the worktree of a run; `before` is the tip that ralph knew, `now` the one that is
 * there. `rewritten`: what ralph pushed is not part of it. `conflict`: both sides changed the same.
 */
export async function takeOver(
  worktree: string,
  before: string,
  now: string,
): Promise<"taken" | "rewritten" | "conflict" | "blocked"> {
  const inTree = ownGit(worktree, undefined);
  if (!(await inTree(["merge-base", "--is-ancestor", before, now])).ok) return "rewritten";
  if ((await inTree(["merge-base", "--is-ancestor", now, "HEAD"])).ok) return "taken";
  if ((await inTree(["merge", "--quiet", "--ff-only", now])).ok) return "taken";
  if ((await inTree([...SOMEBODY, "merge", "--quiet", "--no-edit", now])).ok) return "taken";
  // Nothing is begun where files are in the way.
  return (await inTree(["merge", "--abort"])).ok ? "conflict" : "blocked";
}

/**
 * The tip of the branch, with what was pushed before as a part of it. An agent that rewrote commits has made a history
 * without it: a merge that changes no file ties it in, so that nothing that was pushed is overwritten.
 */
export async function tiedIn(worktree: string, branch: string, before: string): Promise<string> {
  const inTree = ownGit(worktree, undefined);
  const tip = (await inTree(["rev-parse", "--verify", `refs/heads/${branch}`])).stdout.trim();
  if ((await inTree(["merge-base", "--is-ancestor", before, tip])).ok) return tip;
  const message = "Keep what was pushed before";
  const args = ["commit-tree", `${tip}^{tree}`, "-p", tip, "-p", before, "-m", message];
  const tied = (await inTree([...SOMEBODY, ...args])).stdout.trim();
  await inTree(["update-ref", `refs/heads/${branch}`, tied, tip]);
  return tied;
}
