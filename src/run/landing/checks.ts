import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describeSystemError, toRalphError } from "../../errors.js";
import type { CheckFinished } from "../../events.js";
import type { Signals } from "../../loop/effects.js";
import { signingKey } from "../../receipts/signature.js";
import { type ReceiptCheck, receiptIn, writeReceipt } from "../../receipts/statement.js";
import { recipeRow } from "../../recipes/registry.js";
import { createRedactor, type Redact, redactDeep } from "../../records/redact.js";
import type { Settings } from "../../settings/schema.js";
import type { Check } from "../../verify/check.js";
import { createHidden, type HiddenCheck, runHidden } from "../../verify/hidden.js";
import { runChecks } from "../../verify/schedule.js";
import { git, repositoryRoot } from "../../workspace/git.js";
import type { LandingRequest } from "../../workspace/landing/land.js";
import type { DoneStory } from "../../workspace/landing/merge.js";
import { makeReady } from "../../workspace/worktree/create.js";
import { receiptChecks } from "../prove.js";
import { sandboxForChecks } from "../sandbox.js";
import type { RunContext, RunSpec } from "../spec.js";

const SETUP_MS = 30 * 60_000;

/** The checks that prove the work of a run, for any folder that holds it. */
export async function proofOf(spec: RunSpec): Promise<Check[]> {
  return (await (await recipeRow(spec.recipe)).proof?.(spec.recipe, readerAt(spec, spec.base))) ?? [];
}

/** The stories that a commit has done and the run began without. */
export async function storiesDone(spec: RunSpec, tip: string): Promise<DoneStory[]> {
  const [begun, now] = [readerAt(spec, spec.base), readerAt(spec, tip)];
  return (await (await recipeRow(spec.recipe)).done?.(spec.recipe, begun, now)) ?? [];
}

/** Reads files of the folder that the run worked in, as a commit has them. */
function readerAt(spec: RunSpec, commit = "") {
  const { origin = spec.workspace } = spec;
  return async (file: string): Promise<string | undefined> => {
    const path = join(insideOf(spec), file);
    const { ok, stdout } = await git(origin, ["cat-file", "blob", `${commit}:${path}`]);
    return ok ? stdout : undefined;
  };
}

interface Proving {
  spec: RunSpec;
  settings: Settings;
  checks: Check[];
  hidden: HiddenCheck[];
  /** Folder of the records of this landing, and of what its hidden checks print. */
  records: string;
  hiddenLogs: string;
  env: NodeJS.ProcessEnv;
  redact: Redact;
  signals: Pick<Signals, "stop" | "kill">;
  /** The number that the setup and the checks find in `RALPH_SLOT`. */
  slot?: number | undefined;
  tell(text: string): void;
  /** Left out: no agent of the run works. */
  lanes?: Pick<NonNullable<RunContext["lane"]>, "hold" | "atEnd"> | undefined;
}

/** Verifies a commit that is to land, and keeps the proof. */
interface Prover extends Required<Pick<LandingRequest, "verify" | "verified">> {
  proof(commit: string): Proof;
}

/**
 * Runs the checks of a run in a checkout of ralph's own, once for each call of `verify`. The setup runs once for each
 * commit, since a commit may bring new dependencies.
 */
export function proverOf({ spec, settings, checks, records, env: own, ...proving }: Proving): Prover {
  const { redact, signals, slot, tell, lanes } = proving;
  const { origin = spec.workspace, keepBackground } = spec;
  const env = { ...own, ...(slot !== undefined && { RALPH_SLOT: String(slot) }) };
  const verification = { iteration: 0, ...signals };
  const hidden = createHidden(proving.hidden, proving.hiddenLogs, lanes?.hold.alone);
  lanes?.atEnd(hidden.writeLogs);
  let [passes, ready] = [0, ""];
  let unproven: Proof | undefined;
  const verify: Prover["verify"] = async (checkout, commit) => {
    passes += 1;
    const workspace = join(checkout, insideOf(spec));
    // The second pass uses what the setup has installed.
    const command = commit === ready ? undefined : settings.setup;
    await makeReady(origin, checkout, workspace, {
      ...{ command, timeoutMs: SETUP_MS, signal: signals.stop, env, slot, tell },
    });
    ready = commit;
    mkdirSync(records, { recursive: true, mode: 0o700 });
    const sandbox = await sandboxForChecks(spec, workspace, env, signals.stop);
    const logged = checks.map((check, at) => ({
      ...check,
      log: join(records, `check-${at + 1}.${passes}.log`),
    }));
    const { outputTruncateChars: outputChars } = settings;
    const setup = {
      ...{ workspace, env, redact, outputChars, sandbox, keepBackground },
      hiddenChecks: hidden.checks,
    };
    try {
      const results = await untilEnd(runChecks(logged, setup, verification), tell);
      if (results === undefined || results.some(({ event }) => !event.passed)) return results?.map(eventOf);
      const more = await untilEnd(runHidden(setup, verification), tell);
      return more && [...results, ...more].map(eventOf);
    } finally {
      await sandbox?.close();
      if (lanes === undefined) hidden.writeLogs();
    }
  };
  return {
    verify,
    async verified({ old: base, new: commit, tree, checks }) {
      const facts = { base, subject: { commit, tree }, checks: receiptChecks(checks, spec, hidden) };
      const proof = await proveLanding(spec, records, { ...facts, setup: settings.setup });
      unproven = "unproven" in proof ? proof : undefined;
    },
    proof: (commit) => unproven ?? provedBefore(records, commit),
  };
}

function eventOf({ event }: { event: CheckFinished }): CheckFinished {
  return event;
}

async function untilEnd(events: ReturnType<typeof runChecks>, tell: (text: string) => void) {
  let step = await events.next();
  for (; !step.done; step = await events.next())
    if (step.value.type === "check.started") tell(`check: ${step.value.name ?? step.value.command}`);
  return step.value;
}

/** Where the run worked, from the top of its checkout on. */
export function insideOf({ workspace, worktree }: RunSpec): string {
  return relative(worktree ?? repositoryRoot(workspace) ?? workspace, workspace);
}

interface LandedCommit {
  subject: { commit: string; tree: string };
  base: string;
  checks: ReceiptCheck[];
  setup: string | undefined;
}

type Proof = { receipt: string } | { unproven: string };

/** Writes into a folder of records what was verified on a commit that lands; where that fails, the landing goes on. */
async function proveLanding(
  spec: RunSpec,
  records: string,
  { subject, base, checks, setup }: LandedCommit,
): Promise<Proof> {
  const { id: run, recipe, origin: repository = spec.workspace } = spec;
  try {
    const { name, model } = spec.agent;
    const facts = {
      ...{ kind: "landing" as const, run, recipe: recipe.kind, agent: { name, model: model ?? null } },
      ...{ finishedAt: new Date().toISOString(), subject, base, folder: insideOf(spec) },
      ...{ setup: setup ?? null, confirmed: checks.length === 0 ? 0 : 1, checks },
    };
    const key = spec.sign ? await signingKey(repository) : undefined;
    return { receipt: await writeReceipt(records, redactDeep(facts, createRedactor(process.env)), key) };
  } catch (error) {
    if (toRalphError(error) === undefined) throw error;
    return { unproven: `there is no receipt: ${describeSystemError(error)}` };
  }
}

/** The proof of a landing that a crash cut off after its branch had moved. */
export function provedBefore(records: string, commit: string): Proof {
  const receipt = receiptIn(records);
  const isAbout = existsSync(receipt) && readFileSync(receipt, "utf8").includes(`"gitCommit": "${commit}"`);
  return isAbout ? { receipt } : { unproven: "there is no receipt: ralph was ended before it was written" };
}
