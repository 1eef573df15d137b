import { pollMs } from "../github/forge.js";
import { PROGRAM } from "../package-folder.cjs";
import { createLineSplitter } from "../process/output.js";
import { run } from "../process/run.js";
import { checksSpec } from "../recipes/task/flags.js";
import { ralphHome, writableHome } from "../records/home.js";
import { type RunFolder, runFolder, runsIn } from "../records/runs.js";
import { taskOf } from "../records/spec.js";
import { resolveAgent } from "../run/agent-spec.js";
import { handleSignals } from "../run/signals.js";
import { type RequestFlags, readSpec, requestFrom } from "../run/spec.js";
import {
  DEFAULT_LIMITS,
  duration,
  flagWords,
  limitsFrom,
  loopLimits,
  saysSomething,
  wholeNumber,
} from "../settings/limits.js";
import { loadSettings, loopSection } from "../settings/load.js";
import { harmless, harmlessLine } from "../views/harmless.js";
import { failure, note, type OutputFlags } from "./output.js";

interface IntakeFlags extends RequestFlags {
  label?: string;
  parallel?: string;
  once?: boolean;
  poll?: string;
  trustAuthor?: boolean;
}

/** Nobody waits for an answer of the server meanwhile. */
const PATIENCE_MS = 3 * 3_600_000;
/** A child that is stopped may finish its step. */
const GRACE_MS = 60_000;

/** `ralph intake`: takes issues with a label, one after the other, and works on each as `ralph loop --issue` does. */
export async function intake(flags: IntakeFlags): Promise<number> {
  const { label: given = "ralph", parallel = "1", once = false, poll, trustAuthor = false, ...asked } = flags;
  const label = saysSomething("--label", given);
  const count = wholeNumber("--parallel", parallel, 1);
  const { pollMs } = await import("../github/forge.js");
  const every = poll === undefined ? pollMs() : duration("--poll", poll);
  await refuseEarly(asked);
  const { forgeOf, requirePush } = await import("../github/remote.js");
  const { intake: untilEnd } = await import("../github/intake.js");
  const { signals, release } = handleSignals(() => note("Received signal, shutting down..."));
  try {
    const patience = once ? {} : { patienceMs: PATIENCE_MS };
    const forge = await forgeOf(process.cwd(), { tell: note, stop: signals.stop, ...patience });
    await requirePush(forge);
    const words = Object.entries(asked).flatMap(([name, value]) => flagWords(name, value));
    const trust = trustAuthor ? ["--trust-author"] : [];
    const about = { label, parallel: count, once, trustAuthor, pollMs: every, home: ralphHome() };
    return await untilEnd(
      forge,
      { ...about, stop: signals.stop, tell: note },
      {
        start: (issue, name, stop) =>
          child(issue, name, stop, [
            "loop",
            "--issue",
            String(issue),
            ...trust,
            `--worktree=${name}`,
            "--name",
            name,
            // It is delivered here, once the claim was seen to stand.
            ...(asked.baseline ? [] : ["--baseline"]),
            ...words,
          ]),
        resume: (issue, run, stop) => child(issue, run.name(), stop, ["resume", run.id]),
      },
    );
  } finally {
    release();
  }
}

/** What every run would refuse is refused before an issue is claimed. */
async function refuseEarly(flags: RequestFlags): Promise<void> {
  const origin = process.cwd();
  writableHome();
  const { settings } = await loadSettings(origin, flags.config);
  const section = loopSection(settings);
  const recipe = checksSpec("x", flags, settings, origin);
  const limits = limitsFrom(flags, loopLimits(settings, section));
  const request = requestFrom(flags, { recipe, limits, stream: true, title: "", agent: section.agent });
  if (!("words" in request.agent)) await resolveAgent(request.agent, settings, origin, process.env);
}

/** Another ralph; each line that it prints begins with the issue. */
async function child(issue: number, name: string, stop: AbortSignal, args: string[]): Promise<number> {
  const { CLAIM } = await import("../github/intake.js");
  const env = { ...process.env, [CLAIM]: name };
  const command = { file: process.execPath, args: [PROGRAM, ...args], cwd: process.cwd(), env };
  const lines = { stdout: createLineSplitter(), stderr: createLineSplitter() };
  const tell = (from: keyof typeof lines, texts: string[]): void => {
    for (const text of texts) process[from].write(`#${issue} ${harmless(text)}\n`);
  };
  const running = run(command, { stop, graceMs: GRACE_MS });
  let step = await running.next();
  for (; !step.done; step = await running.next())
    tell(step.value.from, lines[step.value.from].push(step.value.data));
  tell("stdout", lines.stdout.end());
  tell("stderr", lines.stderr.end());
  return step.value.exitCode ?? 1;
}

interface FollowFlags extends Pick<OutputFlags, "quiet" | "verbose" | "color" | "emoji"> {
  maxRounds?: string;
  maxCost?: string;
  poll?: string;
}

/** `ralph follow [RUN|PR]`: works on what comes back about a pull request, until it is merged or closed. */
export async function follow(name: string | undefined, flags: FollowFlags): Promise<number> {
  const { maxRounds, maxCost, poll, ...shown } = flags;
  const limits = {
    maxRounds: maxRounds === undefined ? undefined : wholeNumber("--max-rounds", maxRounds, 1),
    maxCostUsd: limitsFrom(maxCost === undefined ? {} : { maxCost }, DEFAULT_LIMITS).maxCostUsd ?? undefined,
    pollMs: poll === undefined ? pollMs() : duration("--poll", poll),
  };
  const run = await followedRun(name);
  const { follow: untilEnd } = await import("../github/follow.js");
  const { continueRun, prepareRound } = await import("./start-run.js");
  const { signals, release } = handleSignals(() => note("Received signal, shutting down..."));
  try {
    const { reason, exitCode } = await untilEnd(
      run,
      { ...limits, stop: signals.stop, tell: note },
      {
        prepare: (task, maxCostUsd) => prepareRound(run, task, maxCostUsd, shown),
        resume: (round) => continueRun(round, shown),
        task: taskOf(run.shown()),
      },
    );
    if (exitCode === 130) return exitCode;
    process.stdout.write(`${harmlessLine(reason)}\n`);
    return exitCode;
  } finally {
    release();
  }
}

/** By the number or the address of its pull request, or by its own name. */
async function followedRun(name: string | undefined): Promise<RunFolder> {
  const { loopMeant, runOf } = await import("./find.js");
  const { deliveryOf } = await import("../github/delivery.js");
  const isPull = name !== undefined && /^(?:#?[1-9]\d{0,6}|https?:\/\/.*)$/.test(name);
  if (!isPull) {
    const run = runOf(loopMeant(name, "latest"));
    const { follows } = readSpec(run);
    return follows === undefined ? run : runFolder(run.home, follows);
  }
  const { numberedPlace } = await import("../github/remote.js");
  const { number, place } = numberedPlace("RUN", name);
  const isMeant = (run: RunFolder): boolean => {
    const known = deliveryOf(run);
    const isThere = place === undefined || (known?.owner === place.owner && known.name === place.name);
    return known?.number === number && isThere;
  };
  const found = runsIn().list().findLast(isMeant);
  if (found !== undefined) return found;
  throw failure(
    "pull_unknown",
    `no run on this machine opened pull request ${number}`,
    "ralph follow RUN names the run; a pull request from elsewhere has no worktree here",
  );
}
