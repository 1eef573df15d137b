import { join } from "node:path";
import { expect } from "vitest";
import { type GateRun, runGate } from "../../../src/recipes/pipeline/run-gate.js";
import { NOT_SEALED } from "../../../src/recipes/pipeline/sealed.js";
import type { PipelineSpec, PipelineState } from "../../../src/recipes/pipeline/spec.js";
import { temporaryFolder } from "../../kit.js";

/** A state whose gate passes, and that no agent works on. */
export const STATE: PipelineState = {
  ...{ name: "A", goal: "", command: "true", exitCode: 0, onFail: "", onPass: "COMPLETE" },
  ...{ agent: "never", timeoutMs: 9000 },
};

export const SPEC: PipelineSpec = {
  ...{ kind: "pipeline", specFile: "s.md", prpFile: "p.md", maxGateRetries: 1, states: [STATE], dirty: [] },
};

/** Runs the gate of a state; undefined: it was killed first. */
export async function gateIn(
  workspace: string,
  state: PipelineState,
  { sealed = NOT_SEALED, hasTests = false, kill = new AbortController() } = {},
): Promise<GateRun | undefined> {
  const records = temporaryFolder();
  const context = {
    ...{ workspace, records, env: process.env, redact: (text: string) => text, folderFor: () => records },
  };
  const verify = { iteration: 1, stop: kill.signal, kill: kill.signal };
  const events = runGate({ spec: { ...SPEC, states: [state] }, state, hasTests, sealed }, context, verify);
  let step = await events.next();
  while (!step.done) step = await events.next();
  if (step.value !== undefined) expect(step.value.check.log).toBe(join(records, "gate-A.log"));
  return step.value;
}
