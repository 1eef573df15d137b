import { readFileSync } from "node:fs";
import { join } from "node:path";
import { inPackage } from "../../../package-folder.cjs";
import { writeFresh } from "../../../records/files.js";
import { testCommand } from "../../../workspace/project.js";
import { isOwnFolder, prepareRuntimeFolder } from "../../../workspace/runtime.js";
import { readAnyText } from "../../prompt.js";
import { CHECK_TESTS, IMPLEMENT } from "./check-tests.js";
import {
  errorsIn,
  type Gate,
  type GateFinding,
  type GateOptions,
  instructionFile,
  prpFileFor,
} from "./gate.js";
import { CHECK, criterionIds, GENERATE } from "./prp.js";
import { STRESS_TEST, VALIDATE } from "./spec-gates.js";

export const GATES = {
  "stress-test": STRESS_TEST,
  validate: VALIDATE,
  generate: GENERATE,
  check: CHECK,
  implement: IMPLEMENT,
  "check-tests": CHECK_TESTS,
} satisfies Record<string, Gate>;

export type GateName = keyof typeof GATES;

export function isGate(name: string): name is GateName {
  return Object.hasOwn(GATES, name);
}

/** What came of a gate; `ralph gate --json` prints it as it is. */
export interface GateReport {
  v: 1;
  gate: GateName;
  file: string;
  passed: boolean;
  message: string;
  findings: GateFinding[];
  /** The instruction for an agent, from the workspace on. */
  instruction: string;
}

export async function judge(name: GateName, options: GateOptions): Promise<GateReport> {
  const { file, workspace } = options;
  const gate = GATES[name];
  const text = readAnyText(gate.about, file, workspace);
  const findings = await gate.judge(text, options);
  writeInstruction(name, options, text, findings);
  const errors = errorsIn(findings).length;
  const passed = errors === 0;
  const message = passed ? gate.passed : `${name} failed: ${errors} ${errors === 1 ? "finding" : "findings"}`;
  return { v: 1, gate: name, file, passed, message, findings, instruction: instructionFile(name) };
}

export function writeInstruction(
  name: GateName,
  options: Omit<GateOptions, "timeoutMs">,
  text: string,
  findings: GateFinding[],
): void {
  const { workspace, file, prpFile = prpFileFor(file), tests = "tests/" } = options;
  const command = options.testCommand ?? testCommand(workspace);
  const values = new Map([
    ["file", file],
    ["prp_file", prpFile],
    ["tests", tests],
    ["criteria", criterionIds(text).join(", ") || "SC-1 …"],
    ["test_command", command ?? "the test command of the project"],
  ]);
  const template = readFileSync(inPackage(`templates/gates/${name}.md`), "utf8");
  const task = template.replace(/\{\{(\w+)\}\}/g, (_, key: string) => values.get(key) ?? "");
  const lines = findings.map((one) => `- ${one.file}:${one.line}: ${one.level}: ${one.message}\n`);
  const said = lines.length === 0 ? "" : `\n## Findings\n\n${lines.join("")}`;
  prepareRuntimeFolder(workspace);
  if (isOwnFolder(workspace)) writeFresh(join(workspace, instructionFile(name)), `${task}${said}`);
}
