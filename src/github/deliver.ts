import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { RalphError } from "../errors.js";
import { whenFree } from "../records/lock.js";
import { createRedactor } from "../records/redact.js";
import type { Report } from "../records/report.js";
import { type RunFolder, runFolder } from "../records/runs.js";
import { returnPasswords } from "../workspace/credentials.js";
import { git } from "../workspace/git.js";
import { branchOf } from "../workspace/worktree/worktree.js";
import { deliveryOf, type Facts, keepDelivery, pullBody, pullTitle, withBody } from "./delivery.js";
import type { Forge, PullRequest } from "./forge.js";
import { pushBranch } from "./push.js";
import { forgeOf, requirePush } from "./remote.js";

type Tell = (text: string) => void;

export interface DeliveryRequest {
  isDraft?: boolean;
  base?: string | undefined;
  reviewers?: string[];
}

export interface DeliveryResult {
  pull: PullRequest;
  what: "opened" | "updated" | "unchanged";
  /** What the user should know. */
  notes: string[];
}

/**
 * Pushes the branch of a run that has ended, and opens its pull request, or brings the one that there is up to date.
 * However often it is called, and by however many at once, there is one pull request.
 */
export async function deliver(run: RunFolder, asked: DeliveryRequest, tell: Tell): Promise<DeliveryResult> {
  return whenFree(join(run.path, "github.lock"), () => deliverAlone(run, asked, tell));
}

async function deliverAlone(run: RunFolder, asked: DeliveryRequest, tell: Tell): Promise<DeliveryResult> {
  const { isDraft = false, reviewers = [] } = asked;
  const { checkout, branch } = branchOfRun(run);
  await returnPasswords(run.home, checkout);
  const { report } = await run.report();
  requireDeliverable(run, report, isDraft);
  const forge = await forgeOf(checkout, { tell }, deliveryOf(run));
  const { defaultBranch } = await requirePush(forge);
  const tip = await tipOf(checkout, branch, run);
  const before = await forge.pulls.of(branch);
  if (before !== undefined && !before.isOpen) throw closed(forge, before);
  const base = await baseFor(forge, run, { before, given: asked.base, defaultBranch });
  if (before === undefined) await requireCommits(checkout, tip, await forge.branch(base), base);
  const { host, owner, name } = forge.repo;
  const fresh = { v: 1 as const, host, owner, name, branch, base, number: null, url: null, tip: null };
  const delivery = deliveryOf(run) ?? fresh;
  const pushed = await pushBranch(forge, checkout, { branch, tip, expected: delivery.tip }, tell);
  if (pushed === "moved") throw moved(branch);
  keepDelivery(run, { ...delivery, tip });
  const facts = await factsOf(run, checkout, { report, tip, branch });
  const redact = createRedactor(process.env);
  const [title, body] = [redact(pullTitle(facts)), redact(pullBody(facts))];
  const pull = before ?? (await forge.pulls.open({ title, body, branch, base, isDraft }));
  keepDelivery(run, { ...delivery, tip, base: pull.base, number: pull.number, url: pull.url });
  const described = withBody(pull.body, body);
  const isSame = described === undefined || described === pull.body;
  if (!isSame) await forge.pulls.describe(pull.number, described);
  if (reviewers.length > 0) await forge.pulls.askReviewers(pull.number, reviewers);
  const what = before === undefined ? "opened" : isSame && pushed === "there" ? "unchanged" : "updated";
  return { pull, what, notes: notesOn(forge, pull, isDraft, described, facts) };
}

function notesOn(
  { commands }: Forge,
  { number, isDraft }: PullRequest,
  asksDraft: boolean,
  described: string | undefined,
  { verified }: Facts,
): string[] {
  return [
    ...(verified?.isLatest === false ? ["the branch has commits that ralph has not verified"] : []),
    ...(isDraft && !asksDraft ? [`it is a draft: ${commands.makeReady(number)} makes it ready`] : []),
    ...(described === undefined ? ["its text was left alone: ralph's part is not in it any more"] : []),
  ];
}

async function tipOf(checkout: string, branch: string, { id }: RunFolder): Promise<string> {
  const tip = await commitOf(checkout, `refs/heads/${branch}`);
  if (tip !== undefined) return tip;
  throw new RalphError(`the branch ${branch} of run ${id} is gone`, {
    code: "branch_gone",
    hint: `git branch ${branch} COMMIT brings it back`,
  });
}

/** Throws where a run has no branch of its own. */
export function branchOfRun(run: RunFolder): {
  checkout: string;
  branch: string;
  worktree: string | undefined;
} {
  const { workspace, worktree, origin = worktree ?? workspace } = run.spec();
  // Of several lanes, the one that holds the result.
  const branch = run.state()?.finished?.branch ?? (worktree && branchOf(worktree));
  if (branch !== undefined && existsSync(origin)) return { checkout: origin, branch, worktree };
  throw new RalphError(`run ${run.name()} has no branch of its own: it worked in your checkout`, {
    code: "branch_missing",
    hint: "start it with --worktree; what is in your checkout is yours to push",
  });
}

function requireDeliverable(run: RunFolder, { success, status, unsettled }: Report, isDraft: boolean): void {
  const name = run.name();
  if (status !== "finished" && status !== "crashed")
    throw new RalphError(`run ${name} has not ended (${status})`, {
      code: "run_not_ended",
      hint: `ralph wait ${name} waits for it`,
    });
  if (unsettled !== null)
    throw new RalphError(`not all work of run ${name} is on its branch: ${unsettled}`, {
      code: "run_unsettled",
      hint: "commit it in the worktree",
    });
  if (!success && !isDraft)
    throw new RalphError(`run ${name} did not succeed, so its work is not ready for review`, {
      code: "run_not_done",
      hint: `ralph resume ${name} continues it; ralph pr ${name} --draft opens a draft that says why`,
    });
}

interface Bases {
  before: PullRequest | undefined;
  given: string | undefined;
  defaultBranch: string;
}

/** That of the pull request; of a new one, the branch that the run started from, if the forge has it. */
async function baseFor(
  forge: Forge,
  run: RunFolder,
  { before, given, defaultBranch }: Bases,
): Promise<string> {
  if (before !== undefined && given !== undefined && given !== before.base)
    throw new RalphError(`pull request ${before.number} is into ${before.base}, not into ${given}`, {
      code: "base_differs",
      hint: `${forge.commands.setBase(before.number, given)} changes that`,
    });
  if (before !== undefined) return before.base;
  if (given !== undefined) {
    if ((await forge.branch(given)) !== undefined) return given;
    throw new RalphError(`there is no branch ${given} on ${forge.repo.host}`, {
      code: "base_gone",
      hint: `push it, or leave --base out: the default is ${defaultBranch}`,
    });
  }
  const started = run.spec().branch;
  const isThere = started !== undefined && (await forge.branch(started)) !== undefined;
  return isThere ? started : defaultBranch;
}

async function requireCommits(
  checkout: string,
  tip: string,
  base: string | undefined,
  name: string,
): Promise<void> {
  const { ok } =
    base === undefined ? { ok: false } : await git(checkout, ["merge-base", "--is-ancestor", tip, base]);
  if (!ok) return;
  throw new RalphError(`there is nothing to deliver: ${name} has all of it`, { code: "nothing_to_deliver" });
}

async function commitOf(checkout: string, ref: string): Promise<string | undefined> {
  const { ok, stdout } = await git(checkout, ["rev-parse", "--verify", "--quiet", `${ref}^{commit}`]);
  return ok ? stdout.trim() : undefined;
}

async function factsOf(
  run: RunFolder,
  checkout: string,
  { report, tip, branch }: Pick<Facts, "report" | "tip" | "branch">,
): Promise<Facts> {
  const ids = (deliveryOf(run)?.follow?.rounds ?? []).flatMap((round) => round.run ?? []);
  const folders = ids.map((id) => runFolder(run.home, id));
  const rounds = await Promise.all(folders.map(async (folder) => (await folder.report()).report));
  const file = [run, ...folders].map(({ path }) => join(path, "receipt.json")).findLast(existsSync);
  const receipt = textIn(file);
  const tree = await git(checkout, ["rev-parse", `${tip}^{tree}`]);
  const verified = receipt === undefined ? undefined : verifiedBy(receipt, tree.stdout.trim());
  const signature = textIn(file && `${file}.sig`);
  return { report, branch, tip, rounds, issue: run.shown().issue, receipt, signature, verified };
}

const Subject = z.object({
  subject: z.array(z.object({ digest: z.object({ gitCommit: z.string(), gitTree: z.string() }).partial() })),
});

/** People may have added commits since. */
function verifiedBy(receipt: string, tree: string): Facts["verified"] {
  const { subject } = Subject.parse(JSON.parse(receipt));
  const { gitCommit, gitTree } = Object.assign({}, ...subject.map(({ digest }) => digest));
  return { commit: gitCommit, isLatest: gitTree === tree };
}

function textIn(file = ""): string | undefined {
  return existsSync(file) ? readFileSync(file, "utf8").trim() : undefined;
}

function closed({ commands }: Forge, { number, isMerged, url }: PullRequest): RalphError {
  const how = isMerged ? "is merged" : "was closed by somebody";
  return new RalphError(`pull request ${number} of this branch ${how}: ${url}`, {
    code: isMerged ? "pull_merged" : "pull_closed",
    hint: isMerged
      ? "start a new run for what is left to do"
      : `ralph opens no second one: ${commands.reopenPull(number)}, then try again`,
  });
}

function moved(branch: string): RalphError {
  return new RalphError(`somebody else pushed to ${branch}; ralph does not overwrite that`, {
    code: "branch_moved",
    exitCode: 1,
    hint: "ralph follow takes such commits over; or merge them in the worktree, and try again",
  });
}
