import { join } from "node:path";
import type { CheckFinished, LandingCheck, LoopEvent, LoopEventBody } from "../../events.js";
import { openJournal, repairJournal } from "../../records/journal.js";
import { acquireLock } from "../../records/lock.js";
import { createRedactor, redactDeep } from "../../records/redact.js";
import type { RunFolder } from "../../records/runs.js";
import type { Settings } from "../../settings/schema.js";
import { checkNames } from "../../verify/hidden.js";
import { cleanSettings, withholdPasswords } from "../../workspace/credentials.js";
import { gitSettings, newPrograms } from "../../workspace/git-programs.js";
import { removeOwnWorktree } from "../../workspace/landing/checkout.js";
import { asPassed, asProof, factsOf, type LandingResult, land } from "../../workspace/landing/land.js";
import { landingMessage } from "../../workspace/landing/merge.js";
import { ownEnvironment, redactorFor, variablesOf } from "../agent-spec.js";
import { programsBefore } from "../ground.js";
import { foundAgain } from "../hidden.js";
import { slotOf } from "../worktrees.js";
import { insideOf, proofOf, provedBefore, proverOf } from "./checks.js";
import { removeLanded } from "./clean.js";
import { type LandingAsked, type LandingPlan, planLanding, refusal } from "./plan.js";

export interface LandOptions {
  settings: Settings;
  signal: AbortSignal;
  /** Receives each event once it is written down. */
  onEvent(event: LoopEvent): void;
  /** Receives progress messages. */
  tell(text: string): void;
  /** Commands of hidden checks that the settings do not have. */
  hiddenChecks?: string[] | undefined;
}

/** How it ended; `left`: what it did not remove, and why. */
export type LandOutcome = { plan: LandingPlan; left?: string | undefined } & (
  | ({
      kind: "landed";
      old: string;
      new: string;
      checks: LandingCheck[];
      unverified: boolean;
    } & {
      receipt?: string;
      unproven?: string;
    })
  | Exclude<LandingResult, { kind: "landed" }>
);

/** Brings the work of a finished run into a branch. Finishes a landing that a crash cut off, from the journal. */
export async function landRun(
  run: RunFolder,
  asked: LandingAsked,
  landing: LandOptions,
): Promise<LandOutcome> {
  await planLanding(run, asked);
  // Excludes another landing of the same run, and a resumed loop.
  const { workspace } = run.shown();
  const lock = acquireLock(run.home, { workspace, sharedBy: run.id }, run.id);
  let returnPasswords = async (): Promise<void> => {};
  try {
    repairJournal(run.journal);
    const plan = await planLanding(run, asked);
    returnPasswords = await withholdPasswords(run.home, [plan.repository, plan.worktree], run.id);
    const records = openRecords(run, landing);
    try {
      const ended = await (plan.done === undefined ? begin : finish)(plan, asked, landing, records.write);
      await records.sync();
      return ended;
    } finally {
      records.close();
      await removeOwnWorktree(plan.repository, plan.worktree);
    }
  } finally {
    await returnPasswords();
    lock.release();
  }
}

type Write = (event: LoopEventBody) => void;

function openRecords(run: RunFolder, { onEvent }: LandOptions) {
  const journal = openJournal(run.journal);
  const redact = createRedactor(process.env);
  return {
    write(body: LoopEventBody): void {
      const event = redactDeep(
        { v: 1, ts: new Date().toISOString(), run: run.id, ...body },
        redact,
      ) as LoopEvent;
      journal.append(event.type, JSON.stringify(event));
      onEvent(event);
    },
    sync: journal.sync,
    close: journal.close,
  };
}

async function begin(
  plan: LandingPlan,
  asked: LandingAsked,
  landing: LandOptions,
  write: Write,
): Promise<LandOutcome> {
  const { run, spec, repository, into, tip, title } = plan;
  const { settings, signal, tell, hiddenChecks } = landing;
  const checks = await proofOf(spec);
  const hidden = await foundAgain(spec, { hiddenChecks }, { settings }, `ralph land ${run.name()}`);
  const names = checkNames(checks, hidden);
  const isUnverified = names.length === 0;
  if (isUnverified && !asked.allowUnverified)
    throw refusal(
      "nothing_verifies",
      `nothing verifies the work of ${run.name()}: the run has no check`,
      "--allow-unverified lands it anyway, and says so",
    );
  await refuseNewPrograms(plan);
  const keep = asked.keep ? { keep: true as const } : {};
  const prover = proverOf({
    ...{ spec, settings, checks, hidden, tell, ...(await surroundings(plan, settings)) },
    ...{ records: recordsOf(plan), hiddenLogs: join(run.hidden, "landing") },
    signals: { stop: signal, kill: signal },
  });
  const about = storiesIn(plan);
  const result = await land({
    ...{ repository, target: `refs/heads/${into}`, tip, worktree: plan.worktree, signal },
    message: landingMessage(title, run.id, plan.stories),
    earlier: spec.base === undefined ? [] : [{ name: into, old: spec.base }],
    squash: asked.squash ?? false,
    ...prover,
    ...(isUnverified && { verify: async () => [] }),
    started: (intent) => {
      const squash = asked.squash ? { squash: true as const } : {};
      write({ type: "landing.started", into, ...about, ...intent, checks: names, ...squash, ...keep });
    },
  });
  if (result.kind === "landed") {
    const unverified = isUnverified;
    const moved = { into, ...about, tip, old: result.old, new: result.new, ...keep };
    const proof = result.checks.map(asProof);
    const shown = prover.proof(result.new);
    write({ type: "landing.landed", ...moved, checks: proof, ...(unverified && { unverified }), ...shown });
    const left = asked.keep ? undefined : await clean(plan, landing, write);
    return { ...result, plan, checks: proof, unverified, left, ...shown };
  }
  if (result.kind !== "nothing" && result.kind !== "interrupted") write(refusedOf(plan, result));
  return { ...result, plan };
}

/** What the checks see, as in the run itself. */
async function surroundings({ run, spec, repository }: LandingPlan, settings: Settings) {
  const variables = variablesOf(spec, settings);
  const clean = cleanSettings(await gitSettings(repository), run.path);
  const env = { ...ownEnvironment(run, variables), ...clean };
  return { env, redact: redactorFor(variables) };
}

/** The branch has moved, so everything was verified and proved: only the event and the cleaning are left. */
async function finish(
  plan: LandingPlan,
  asked: LandingAsked,
  landing: LandOptions,
  write: Write,
): Promise<LandOutcome> {
  const { into, tip, state } = plan;
  const known = state.landings?.[into];
  const [old = "", commit = ""] = [known?.old, known?.new];
  const checks = known?.type === "landing.landed" ? known.checks : (known?.checks ?? []).map(asPassed);
  const unverified = checks.length === 0;
  const keep = asked.keep || (known?.type !== "landing.refused" && known?.keep === true);
  if (plan.done === "moved") {
    const proof = provedBefore(recordsOf(plan), commit);
    const more = { ...(unverified && { unverified }), ...(keep && { keep }), ...proof };
    write({ type: "landing.landed", into, ...storiesIn(plan), tip, old, new: commit, checks, ...more });
  }
  const left = keep ? undefined : await clean(plan, landing, write);
  return { kind: "landed", plan, old, new: commit, checks, unverified, left };
}

/** What was verified for one branch. */
function recordsOf({ run, into }: LandingPlan): string {
  return join(run.path, "landing", encodeURIComponent(into));
}

async function clean(
  plan: LandingPlan,
  { settings, tell }: LandOptions,
  write: Write,
): Promise<string | undefined> {
  const { spec, repository, branch, tip, state } = plan;
  const { copied = [] } = spec;
  // The winner of a race has a worktree that only the end of the run names.
  const worktree = spec.worktree ?? state.finished?.worktree ?? undefined;
  const place = { worktree, inside: insideOf(spec), slot: slotOf(state, worktree) };
  const { teardown } = settings;
  const left = await removeLanded({ repository, branch, tip, ...place, copied, teardown, tell });
  if (left === undefined) write({ type: "landing.cleaned", worktree: worktree ?? null, branch });
  return left;
}

/** git uses these to merge and to check out, and an agent could have set them up. */
async function refuseNewPrograms({ run, repository }: LandingPlan): Promise<void> {
  const before = programsBefore(run);
  const { settings } = before === undefined ? { settings: [] } : await newPrograms(repository, before);
  const names = settings.filter((name) => /^(?:filter|merge)\./.test(name));
  if (names.length === 0) return;
  const what = `settings of the repository have changed since the run began, and name programs: ${names.join(", ")}`;
  throw refusal("git_settings", `git is not run: ${what}`, "put them back as they were");
}

type RefusedLanding = Exclude<LandingResult, { kind: "landed" | "nothing" | "interrupted" }>;

function storiesIn({ stories }: LandingPlan): { stories?: string[] } {
  return stories.length === 0 ? {} : { stories: stories.map(({ id }) => id) };
}

function refusedOf(plan: LandingPlan, result: RefusedLanding): LoopEventBody {
  const { into, tip } = plan;
  return {
    ...{
      type: "landing.refused",
      into,
      ...storiesIn(plan),
      tip,
      reason: result.kind,
      message: whyRefused(result),
    },
    ...factsOf(result),
  };
}

/** One line for people. */
export function whyRefused(result: RefusedLanding): string {
  switch (result.kind) {
    case "conflict":
      return `conflicts in ${result.files.join(", ")}`;
    case "red":
      return `checks fail on the merged files: ${result.checks
        .filter(({ passed }) => !passed)
        .map(nameOf)
        .join(", ")}`;
    case "flaky":
      return `flaky: ${nameOf(result.first)} ${result.first.passed ? "passed" : "failed"} and then ${result.second.passed ? "passed" : "failed"} on the same files`;
    case "lost":
      return `work that is there would be lost: ${[
        ...result.gone.map((name) => `the commits of ${name}`),
        ...result.lines.map(({ name, file, line }) => `${file} (${name}): ${line.trim()}`),
      ].join("; ")}`;
    case "moved":
      return `the branch moved ${result.tries} times while the checks ran`;
    case "in_the_way":
      return result.checkout === undefined
        ? result.said
        : `it is checked out in ${result.checkout}, and ${result.said}`;
    default:
      return result.said;
  }
}

function nameOf({ name, command }: CheckFinished): string {
  return name ?? command;
}
