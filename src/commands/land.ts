import { existsSync } from "node:fs";
import type { LandOutcome } from "../run/landing/land.js";
import type { LandingAsked } from "../run/landing/plan.js";
import { handleSignals } from "../run/signals.js";
import { readSpec } from "../run/spec.js";
import { loadSettings } from "../settings/load.js";
import { joined, plural } from "../views/figures.js";
import { harmless, harmlessJson, harmlessLine } from "../views/harmless.js";
import { quoteWord } from "../words.js";
import { branchAt } from "../workspace/git.js";
import { loopMeant, runHere } from "./find.js";
import { failure, note, printAll, say, warn } from "./output.js";

type LandFlags = LandingAsked & { json?: boolean; hiddenCheck?: string[] };

/** `ralph land [RUN]`: brings the work of a finished run into a branch. */
export async function landCommand(name: string | undefined, flags: LandFlags): Promise<number> {
  const run = runHere(loopMeant(name, "latest"));
  const { landRun } = await import("../run/landing/land.js");
  const { origin, workspace, config } = readSpec(run);
  const { settings } = await loadSettings(origin ?? workspace, config);
  const handler = handleSignals(() => note("interrupted: nothing lands"));
  try {
    const ended = await landRun(run, flags, {
      ...{ settings, hiddenChecks: flags.hiddenCheck, signal: handler.signals.stop, tell: note },
      onEvent: (event) => {
        if (flags.json) process.stdout.write(`${harmlessJson(event)}\n`);
      },
    });
    return await tell(ended, flags);
  } finally {
    handler.release();
  }
}

async function tell(ended: LandOutcome, { json = false }: LandFlags): Promise<number> {
  const { into, branch } = ended.plan;
  if (ended.kind === "landed") {
    if (ended.left !== undefined) warn(harmlessLine(ended.left));
    return json ? 0 : printAll(landedText(ended));
  }
  if (ended.kind === "nothing") return json ? 0 : say(`${into} already contains ${branch}`);
  if (ended.kind === "interrupted") throw failure("interrupted", "nothing has landed", undefined, 130);
  if (ended.kind === "red" && !json)
    for (const { output, log } of ended.checks.filter(({ passed }) => !passed))
      process.stderr.write(`${harmless(output).trimEnd()}\n(log: ${log})\n`);
  const { whyRefused } = await import("../run/landing/land.js");
  const why = `not landed in ${into}: ${harmlessLine(whyRefused(ended))}`;
  throw failure(`landing_${ended.kind}`, why, whatToDo(ended), EXITS[ended.kind] ?? 1);
}

function landedText(landed: LandOutcome & { kind: "landed" }): string {
  const { plan, old, new: commit, checks, unverified, receipt, unproven } = landed;
  const { into, title, repository } = plan;
  const passed = `${plural(checks.length, "check")} passed on the merge, twice`;
  const how = joined(
    `${old.slice(0, 9)}..${commit.slice(0, 9)}`,
    unverified ? "nothing verified it" : passed,
  );
  const brought = branchAt(repository) === into ? `updated the checkout ${repository}\n` : "";
  const proof = receipt === undefined ? (unproven ?? "") : `ralph verify ${quoteWord(receipt)} re-checks it`;
  return `Landed in ${into}: ${harmlessLine(title)} (${how})\n${brought}${proof && `${proof}\n`}`;
}

/** Nothing was verified, or somebody else was at work: the same command may do it later. */
const EXITS: Partial<Record<LandOutcome["kind"], number>> = { in_the_way: 2, moved: 2 };

function whatToDo({ plan: { branch, into, run, spec }, ...ended }: LandOutcome): string | undefined {
  const name = run.name();
  const { worktree = "" } = spec;
  const go = existsSync(worktree) ? `cd ${quoteWord(worktree)}` : `git switch ${quoteWord(branch)}`;
  switch (ended.kind) {
    case "conflict":
      return `resolve them: ${go}; git merge ${quoteWord(into)}; commit; ralph land ${name}`;
    case "red":
    case "flaky":
      return `nothing has changed; the work is on ${branch}`;
    case "lost":
      return `git diff ${into}...${branch} shows the changes; fix them on ${branch}, then ralph land ${name} again`;
    case "in_the_way":
      return ended.files.length > 0 ? "commit it, stash it or move it, then land again" : undefined;
    case "moved":
      return "land again when nobody else pushes";
    default:
      return undefined;
  }
}
