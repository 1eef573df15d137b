import { mkdirSync } from "node:fs";
import { join, relative } from "node:path";
import type { CheckFinished } from "../../events.js";
import type { Signals } from "../../loop/effects.js";
import { recipeRow } from "../../recipes/registry.js";
import type { Redact } from "../../records/redact.js";
import type { Settings } from "../../settings/schema.js";
import type { Check } from "../../verify/check.js";
import { createHidden, type HiddenCheck, runHidden } from "../../verify/hidden.js";
import { runChecks } from "../../verify/schedule.js";
import { git, repositoryRoot } from "../../workspace/git.js";
import { makeReady } from "../../workspace/worktree/create.js";
import { sandboxForChecks } from "../sandbox.js";
import type { RunSpec } from "../spec.js";

const SETUP_MS = 30 * 60_000;

/** The checks that prove the work of a run, for any folder that holds it. */
export async function proofOf(spec: RunSpec): Promise<Check[]> {
  const { origin = spec.workspace, base } = spec;
  const begun = async (file: string): Promise<string | undefined> => {
    const path = join(insideOf(spec), file);
    const { ok, stdout } = await git(origin, ["cat-file", "blob", `${base}:${path}`]);
    return ok ? stdout : undefined;
  };
  return (await (await recipeRow(spec.recipe)).proof?.(spec.recipe, begun)) ?? [];
}

/** Where the run worked, from the top of its checkout on. */
export function insideOf({ workspace, worktree }: RunSpec): string {
  return relative(worktree ?? repositoryRoot(workspace) ?? workspace, workspace);
}

interface Proving {
  spec: RunSpec;
  settings: Settings;
  checks: Check[];
  hidden: HiddenCheck[];
  /** Folder for the logs. */
  logs: string;
  env: NodeJS.ProcessEnv;
  redact: Redact;
  signals: Pick<Signals, "stop" | "kill">;
  /** The number that the setup and the checks find in `RALPH_SLOT`. */
  slot?: number | undefined;
  tell(text: string): void;
}

/**
 * Runs the checks of a run in a checkout of ralph's own, once for each call; undefined: a signal came first. The setup
 * runs once for each commit, since a commit may bring new dependencies.
 */
export function proverOf({ spec, settings, checks, hidden: given, logs, env: own, ...proving }: Proving) {
  const { redact, signals, slot, tell } = proving;
  const { origin = spec.workspace, keepBackground } = spec;
  const env = { ...own, ...(slot !== undefined && { RALPH_SLOT: String(slot) }) };
  const verify = { iteration: 0, ...signals };
  let [passes, ready] = [0, ""];
  return async (checkout: string, commit: string): Promise<CheckFinished[] | undefined> => {
    passes += 1;
    const workspace = join(checkout, insideOf(spec));
    // The second pass uses what the setup has installed.
    const command = commit === ready ? undefined : settings.setup;
    await makeReady(origin, checkout, workspace, {
      ...{ command, timeoutMs: SETUP_MS, signal: signals.stop, slot, tell },
    });
    ready = commit;
    mkdirSync(logs, { recursive: true, mode: 0o700 });
    const hidden = createHidden(given, logs);
    const sandbox = await sandboxForChecks(spec, workspace, env, signals.stop);
    const logged = checks.map((check, at) => ({
      ...check,
      log: join(logs, `check-${at + 1}.${passes}.log`),
    }));
    const { outputTruncateChars: outputChars } = settings;
    const setup = {
      ...{ workspace, env, redact, outputChars, sandbox, keepBackground },
      hiddenChecks: hidden.checks,
    };
    try {
      const results = await untilEnd(runChecks(logged, setup, verify), tell);
      if (results === undefined || results.some(({ event }) => !event.passed)) return results?.map(eventOf);
      const more = await untilEnd(runHidden(setup, verify), tell);
      return more && [...results, ...more].map(eventOf);
    } finally {
      await sandbox?.close();
      // Agents in lanes could read them.
      if (slot === undefined) hidden.writeLogs();
    }
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
