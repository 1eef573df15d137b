import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { checkTests } from "../../gates/check-tests.js";
import { errorsIn } from "../../gates/finding.js";
import type { PipelineSpec } from "./pipeline.js";
import type { PipelineState } from "./pipeline-state.js";

const TESTS_GATE = /\bralph gate check-tests\b|\bvalidate-tests\.sh\b/;

/**
 * Tests that have passed their own gate must stay as good: whoever takes one away, or empties it, would pass.
 * Says what is wrong with them, or undefined.
 */
export async function weakenedTests(
  { states, prpFile }: PipelineSpec,
  workspace: string,
  state: PipelineState,
): Promise<string | undefined> {
  const before = states.slice(0, states.indexOf(state)).find(({ command }) => TESTS_GATE.test(command));
  const path = resolve(workspace, prpFile);
  if (before === undefined || !existsSync(path)) return undefined;
  const tests = /(?:--tests[ =]|validate-tests\.sh )(\S+)/.exec(before.command)?.[1];
  const text = readFileSync(path, "utf8");
  const [error] = errorsIn(await checkTests({ workspace, file: prpFile, text, tests }));
  if (error === undefined) return undefined;
  return `the tests are weaker than ${before.name} has seen them: ${error.file}:${error.line}: ${error.message}`;
}
