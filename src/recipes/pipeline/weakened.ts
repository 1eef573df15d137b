import { resolve } from "node:path";
import { textAt } from "../../workspace/content.js";
import { checkTests } from "./gates/check-tests.js";
import { errorsIn, type GateFinding } from "./gates/gate.js";
import { checkPrp } from "./gates/prp.js";
import { readBefore } from "./gates/test-files.js";
import type { PipelineSpec, PipelineState } from "./spec.js";

export const PRP_GATE = /\bralph gate check (?!-)/;
export const TESTS_GATE = /\bralph gate check-tests\b|\bvalidate-tests\.sh\b/;

/** What has passed its own gate must stay as good: an agent could empty a test or a criterion. Says what is wrong, or undefined. */
export async function whatWasWeakened(
  spec: PipelineSpec,
  workspace: string,
  state: PipelineState,
  beforeFile: string,
): Promise<string | undefined> {
  const earlier = spec.states.slice(0, spec.states.indexOf(state));
  const prpGate = earlier.find(({ command }) => PRP_GATE.test(command));
  const testsGate = earlier.find(({ command }) => TESTS_GATE.test(command));
  const text = textAt(resolve(workspace, spec.prpFile));
  if (prpGate !== undefined) {
    const [error] = text === undefined ? [GONE] : prpErrors(spec, workspace, text);
    if (error !== undefined) return `the PRP is weaker than ${prpGate.name} has seen it: ${told(error)}`;
  }
  if (testsGate === undefined || text === undefined) return undefined;
  const about = { workspace, file: spec.prpFile, text, tests: testsOf(testsGate) };
  const [error] = errorsIn(
    await checkTests({ ...about, before: readBefore(beforeFile, asksForWork(spec, testsGate)) }),
  );
  return error && `the tests are weaker than ${testsGate.name} has seen them: ${told(error)}`;
}

/** Whether agents were asked to write what the gate judges: what was there before the run does not count then. */
export function asksForWork({ states }: Pick<PipelineSpec, "states">, state: PipelineState): boolean {
  const index = states.findIndex(({ name }) => name === state.name);
  return states.slice(0, index + 1).some(({ agent }) => agent === "before");
}

/** The folder or file that a gate of tests looks at, if it is named. */
export function testsOf({ command }: PipelineState): string | undefined {
  return /(?:--tests[ =]|validate-tests\.sh )(\S+)/.exec(command)?.[1];
}

const GONE = { file: "", line: 0, message: "it is gone" };

function prpErrors({ specFile, prpFile }: PipelineSpec, workspace: string, text: string): GateFinding[] {
  const spec = textAt(resolve(workspace, specFile));
  return errorsIn(checkPrp(prpFile, text, spec === undefined ? undefined : { file: specFile, text: spec }));
}

function told({ file, line, message }: Pick<GateFinding, "file" | "line" | "message">): string {
  return file === "" ? message : `${file}:${line}: ${message}`;
}
