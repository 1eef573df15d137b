import { pollMs } from "../github/forge.js";
import { type RunFolder, runFolder, runsIn } from "../records/runs.js";
import { taskOf } from "../records/spec.js";
import { handleSignals } from "../run/signals.js";
import { readSpec } from "../run/spec.js";
import { DEFAULT_LIMITS, duration, limitsFrom, wholeNumber } from "../settings/limits.js";
import { harmlessLine } from "../views/harmless.js";
import { failure, note, type OutputFlags } from "./output.js";

export interface FollowFlags extends Pick<OutputFlags, "quiet" | "verbose" | "color" | "emoji"> {
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
