import { mkdirSync } from "node:fs";
import { join, relative } from "node:path";
import type { CheckFinished } from "../../events.js";
import { recipeRow } from "../../recipes/registry.js";
import { createRedactor } from "../../records/redact.js";
import { RUN_VARIABLE, type RunFolder } from "../../records/runs.js";
import type { Settings } from "../../settings/schema.js";
import type { Check } from "../../verify/check.js";
import { runChecks } from "../../verify/schedule.js";
import { git, repositoryRoot, withoutRepository } from "../../workspace/git.js";
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
  run: RunFolder;
  settings: Settings;
  checks: Check[];
  signal: AbortSignal;
  tell(text: string): void;
}

/** Runs the checks of a run in a checkout of ralph's own, once or twice; undefined: a signal came first. */
export function proverOf({ spec, run, settings, checks, signal, tell }: Proving) {
  const { origin = spec.workspace } = spec;
  const logs = join(run.path, "landing");
  let passes = 0;
  return async (checkout: string): Promise<CheckFinished[] | undefined> => {
    passes += 1;
    const workspace = join(checkout, insideOf(spec));
    // The second pass uses what the setup has installed.
    const setup = passes === 1 ? settings.setup : undefined;
    await makeReady(origin, checkout, workspace, { command: setup, timeoutMs: SETUP_MS, signal, tell });
    mkdirSync(logs, { recursive: true, mode: 0o700 });
    const env = { ...withoutRepository(process.env), [RUN_VARIABLE]: spec.id };
    const sandbox = await sandboxForChecks(spec, workspace, env, signal);
    const logged = checks.map((check, at) => ({
      ...check,
      log: join(logs, `check-${at + 1}.${passes}.log`),
    }));
    const { outputTruncateChars: outputChars } = settings;
    const redact = createRedactor(process.env);
    try {
      const events = runChecks(
        logged,
        { workspace, env, redact, outputChars, sandbox },
        { iteration: 0, stop: signal, kill: signal },
      );
      let step = await events.next();
      for (; !step.done; step = await events.next())
        if (step.value.type === "check.started") tell(`check: ${step.value.name ?? step.value.command}`);
      return step.value?.map(({ event }) => event);
    } finally {
      await sandbox?.close();
    }
  };
}
