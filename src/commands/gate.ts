import { existsSync } from "node:fs";
import { RalphError } from "../errors.js";
import { didYouMean } from "../nearest.js";
import { GATES, isGate, judge } from "../recipes/pipeline/gates/index.js";
import { readBefore } from "../recipes/pipeline/gates/test-files.js";
import { duration, saysSomething } from "../settings/limits.js";
import { harmlessLine } from "../views/harmless.js";
import { formatterFor, type LookFlags, printAs } from "./output.js";

interface GateFlags extends LookFlags {
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
  const names = Object.keys(GATES);
  if (tests !== undefined && !existsSync(tests))
    throw new RalphError(`no such folder or file: --tests ${tests}`, { code: "flag_invalid" });
  if (!isGate(name))
    throw new RalphError(`unknown gate '${name}'`, {
      code: "gate_unknown",
      hint: didYouMean(name, names) ?? `gates: ${names.join(", ")}`,
    });
  const { mark, paint } = formatterFor(flags);
  const report = await judge(name, {
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
  const { findings, passed, message } = report;
  await printAs(flags, report, () => [
    ...findings.map(({ file: at, line, level, message: what }) =>
      harmlessLine(`${at}:${line}: ${level}: ${what}`),
    ),
    passed ? paint("green", `${mark.ok} ${message}`) : paint("red", `${mark.error} ${message}`),
  ]);
  return passed ? 0 : 1;
}

/** A pipeline tells its gates what it knows. */
function fromPipeline(variable: string): string | undefined {
  return process.env[variable] || undefined;
}
