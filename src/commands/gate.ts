import { existsSync } from "node:fs";
import { RalphError } from "../errors.js";
import { nearest } from "../nearest.js";
import type { GateFinding } from "../recipes/pipeline/gates/gate.js";
import { GATES, type GateName, type GateReport, isGate, judge } from "../recipes/pipeline/gates/index.js";
import { readBefore } from "../recipes/pipeline/gates/test-files.js";
import { duration, saysSomething } from "../settings/limits.js";
import { harmlessJson, harmlessLine } from "../views/harmless.js";
import { formatterFor, type OutputFlags, printAll } from "./output.js";

export interface GateFlags extends Pick<OutputFlags, "json" | "color" | "emoji"> {
  spec?: string;
  prp?: string;
  tests?: string;
  testCommand?: string;
  timeout?: string;
  implemented?: boolean;
}

const TIMEOUT_MS = 5 * 60_000;

/** `ralph gate NAME FILE`: one gate of the pipeline, for CI and for people. */
export async function gate(name: string, file: string, flags: GateFlags): Promise<number> {
  const { tests, timeout, implemented } = flags;
  if (tests !== undefined && !existsSync(tests))
    throw new RalphError(`no such folder or file: --tests ${tests}`, { code: "flag_invalid" });
  const report = await judge(gateCalled(name), {
    workspace: process.cwd(),
    file: saysSomething("FILE", file),
    spec: flags.spec ?? fromPipeline("RALPH_SPEC_FILE"),
    prpFile: flags.prp ?? fromPipeline("RALPH_PRP_FILE"),
    tests,
    testCommand: flags.testCommand ?? fromPipeline("RALPH_TEST_COMMAND"),
    timeoutMs: timeout === undefined ? TIMEOUT_MS : duration("--timeout", timeout),
    implemented,
    before: readBefore(fromPipeline("RALPH_BEFORE"), fromPipeline("RALPH_ONLY_NEW") !== undefined),
  });
  await printAll(flags.json ? `${harmlessJson(report, 2)}\n` : lines(report, flags));
  return report.passed ? 0 : 1;
}

function gateCalled(name: string): GateName {
  if (isGate(name)) return name;
  const names = Object.keys(GATES);
  const meant = nearest(name, names);
  throw new RalphError(`unknown gate '${name}'`, {
    code: "gate_unknown",
    hint: meant === undefined ? `gates: ${names.join(", ")}` : `did you mean ${meant}?`,
  });
}

/** A pipeline tells its gates what it knows. */
function fromPipeline(variable: string): string | undefined {
  return process.env[variable] || undefined;
}

function lines({ findings, passed, message }: GateReport, flags: GateFlags): string {
  const { mark, paint } = formatterFor(flags);
  const line = ({ file, line: number, level, message: what }: GateFinding): string =>
    harmlessLine(`${file}:${number}: ${level}: ${what}`);
  const closing = passed ? paint("green", `${mark.ok} ${message}`) : paint("red", `${mark.error} ${message}`);
  return `${[...findings.map(line), closing].join("\n")}\n`;
}
