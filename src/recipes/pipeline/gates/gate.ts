import { existsSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { writeFresh } from "../../../records/files.js";
import { testCommand } from "../../../workspace/project.js";
import { isOwnFolder, prepareRuntimeFolder, RUNTIME_FOLDER } from "../../../workspace/runtime.js";
import { readAnyText } from "../../text-file.js";
import { type Before, marked } from "./before.js";
import { checkTests, testsFor } from "./check-tests.js";
import { errorsIn, type Finding, findingsIn, type GateName, type GateReport } from "./finding.js";
import { instruction } from "./instructions.js";
import { checkPrp, type Spec } from "./prp.js";
import { stressTest } from "./stress-test.js";
import { suiteFindings } from "./suite.js";
import { printOf } from "./tests/test-block.js";
import { testFiles } from "./tests/test-files.js";
import { validate } from "./validate.js";

export interface GateOptions {
  workspace: string;
  /** A spec, or a PRP for the gates behind `generate`. */
  file: string;
  /** Where the PRP of a spec belongs. */
  prpFile?: string | undefined;
  /** The spec of a PRP. */
  spec?: string | undefined;
  /** Folder or file with the tests. */
  tests?: string | undefined;
  testCommand?: string | undefined;
  /** For the run of the suite. */
  timeoutMs: number;
  /** The code is there already: the suite is not run. */
  implemented?: boolean | undefined;
  /** What was there before the run that the gate belongs to. */
  before?: Before | undefined;
}

/** `specs/recipe-saver.md` becomes `PRPs/recipe-saver.prp.md`. */
export function prpFileFor(specFile: string): string {
  return `PRPs/${basename(specFile).replace(/\.[^.]+$/, "")}.prp.md`;
}

export function instructionFile(gate: GateName): string {
  return `${RUNTIME_FOLDER}/${gate}-instruction.md`;
}

/** Judges a file and writes down what an agent has to do about it. */
export async function runGate(gate: GateName, options: GateOptions): Promise<GateReport> {
  const { file, workspace } = options;
  const text = readAnyText(isAboutSpec(gate) ? "spec" : "PRP", file, workspace);
  const findings = await FINDINGS[gate](text, options);
  writeInstruction(gate, options, text, findings);
  const errors = errorsIn(findings).length;
  const passed = errors === 0;
  return {
    v: 1,
    gate,
    file,
    passed,
    message: passed ? PASSED[gate] : `${gate} failed: ${errors} ${errors === 1 ? "finding" : "findings"}`,
    findings,
    instruction: instructionFile(gate),
  };
}

/** The same before anybody has looked, for an agent that works first. undefined: there is nothing to read yet. */
export function prepareInstruction(gate: GateName, options: GateOptions): string | undefined {
  const path = resolve(options.workspace, options.file);
  if (!existsSync(path)) return undefined;
  return writeInstruction(gate, options, readFileSync(path, "utf8"), []);
}

export function isAboutSpec(gate: GateName): boolean {
  return gate === "stress-test" || gate === "validate" || gate === "generate";
}

const PASSED: Record<GateName, string> = {
  "stress-test": "Instruction generated",
  validate: "Structure validation passed",
  generate: "Instruction generated",
  check: "PRP validation passed",
  implement: "Instruction generated",
  "check-tests": "All tests valid and match PRP criteria",
};

type Judge = (text: string, options: GateOptions) => Finding[] | Promise<Finding[]>;

const FINDINGS: Record<GateName, Judge> = {
  "stress-test": (text, { file }) => stressTest(file, text),
  validate: (text, { file }) => validate(file, text),
  generate: prpFindings,
  check: (text, options) => checkPrp(options.file, text, specOf(options)),
  implement: testFindings,
  "check-tests": allTestFindings,
};

/** The instruction alone makes nobody write anything: what counts is the PRP. */
function prpFindings(_: string, options: GateOptions): Finding[] {
  const { workspace, file, prpFile = prpFileFor(file), before } = options;
  const path = resolve(workspace, prpFile);
  const { error } = findingsIn(prpFile);
  if (!existsSync(path))
    return [error(1, `it is not there yet: ${instructionFile("generate")} says how to write it`)];
  const text = readFileSync(path, "utf8");
  if (text.trim() === "") return [error(1, "it is empty")];
  if (!before?.onlyNew || before.prp !== printOf(text)) return [];
  return [error(1, `it is as it was before the run began: write it anew from ${file}`)];
}

function testFindings(text: string, options: GateOptions): Finding[] {
  const { file, tests, before } = options;
  if (testsFor({ ...options, text, tests }).length > 0) return [];
  const where = `${before?.onlyNew ? " that are new or changed in this run" : ""}${tests === undefined ? "" : ` in ${tests}`}`;
  const how = `${instructionFile("implement")} says how to write them`;
  return [findingsIn(file).error(1, `there are no tests for its criteria${where} yet: ${how}`)];
}

async function allTestFindings(text: string, options: GateOptions): Promise<Finding[]> {
  const { workspace, file, tests, timeoutMs, before } = options;
  const findings = await checkTests({ workspace, file, text, tests, before });
  if (options.implemented || errorsIn(findings).length > 0) return findings;
  const command = options.testCommand ?? testCommand(workspace);
  if (command === undefined)
    return [...findings, findingsIn(file).error(1, "no test command was found: give it with --test-command")];
  const suite = {
    workspace,
    file: tests ?? file,
    command,
    timeoutMs,
    files: before?.onlyNew ? marked(testFiles(workspace, tests), before) : [],
  };
  return [...findings, ...(await suiteFindings(suite))];
}

function specOf({ workspace, file, spec }: GateOptions): Spec | undefined {
  const found = spec ?? `specs/${basename(file).replace(/\.prp\.md$/, ".md")}`;
  if (spec !== undefined) return { file: spec, text: readAnyText("spec", spec, workspace) };
  const path = resolve(workspace, found);
  return existsSync(path) ? { file: found, text: readFileSync(path, "utf8") } : undefined;
}

function writeInstruction(gate: GateName, options: GateOptions, text: string, findings: Finding[]): string {
  const { workspace, file, prpFile = prpFileFor(file), tests = "tests/" } = options;
  const command = options.testCommand ?? testCommand(workspace);
  const content = instruction(gate, { file, text, findings, prpFile, tests, testCommand: command });
  prepareRuntimeFolder(workspace);
  if (isOwnFolder(workspace)) writeFresh(join(workspace, instructionFile(gate)), content);
  return content;
}
