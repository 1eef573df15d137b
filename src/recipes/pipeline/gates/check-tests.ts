import { basename } from "node:path";
import { formatDuration } from "../../../duration.js";
import { capture } from "../../../process/run.js";
import { which } from "../../../process/which.js";
import { runCheck } from "../../../verify/check.js";
import { NAMES_FAILURE, oneLine } from "../../../verify/excerpt.js";
import { hasTests } from "../../../verify/no-tests.js";
import { isKnownRunner, testCommand } from "../../../workspace/project.js";
import {
  errorsIn,
  findingsIn,
  type Gate,
  type GateFinding,
  type GateOptions,
  instructionFile,
} from "./gate.js";
import type { TestBlock } from "./languages.js";
import { criterionIds } from "./prp.js";
import { type BeforeRun, type TestFile, testFiles } from "./test-files.js";

/** Are there tests for the criteria of the PRP? */
export const IMPLEMENT: Gate = {
  about: "PRP",
  passed: "Instruction generated",
  judge(text, { workspace, file, tests, before }) {
    const files = testFiles(workspace, tests, before);
    if (criterionIds(text).some((id) => testsNaming(id, files, before).length > 0)) return [];
    const which = before?.onlyNew ? " that are new or changed in this run" : "";
    const how = `${instructionFile("implement")} says how to write them`;
    const what = `there are no tests for its criteria${which}${inFolder(tests)} yet: ${how}`;
    return [findingsIn(file).error(1, what)];
  },
};

/** Is there a sound test for every criterion of the PRP, and does the suite fail before anything is implemented? */
export const CHECK_TESTS: Gate = {
  about: "PRP",
  passed: "All tests valid and match PRP criteria",
  async judge(text, options) {
    const { workspace, file, tests, before, implemented } = options;
    const findings = await checkTests(text, options);
    if (implemented || errorsIn(findings).length > 0) return findings;
    const command = options.testCommand ?? testCommand(workspace);
    const missing = findingsIn(file).error(1, "no test command was found: give it with --test-command");
    if (command === undefined) return [...findings, missing];
    const files = before?.onlyNew ? testFiles(workspace, tests, before) : [];
    return [...findings, ...(await suiteFindings(command, { ...options, file: tests ?? file }, files))];
  },
};

function inFolder(tests: string | undefined): string {
  return tests === undefined ? "" : ` in ${tests}`;
}

/** `text`: of the PRP. Tests from before the run that prove nothing of it are not its work: they are only warned about. */
export async function checkTests(
  text: string,
  { workspace, file, tests, before }: Omit<GateOptions, "timeoutMs">,
): Promise<GateFinding[]> {
  const { error } = findingsIn(file);
  const ids = criterionIds(text);
  if (ids.length === 0) return [error(1, "it names no criterion SC-n: check the PRP first")];
  const files = testFiles(workspace, tests, before);
  if (files.length === 0) return [error(1, `no test was found${inFolder(tests)}`)];
  const proofs = new Map(ids.map((id) => [id, testsNaming(id, files, before)]));
  const proving = new Set([...proofs.values()].flat());
  const where = before?.onlyNew ? "in no test that is new or changed in this run" : "in no test";
  const missing = ids.filter((id) => proofs.get(id)?.length === 0);
  const lineOf = (id: string): number =>
    text.split("\n").findIndex((line) => new RegExp(`\\b${id}\\b`).test(line)) + 1 || 1;
  const unread = await syntaxFindings(workspace, files);
  const ofFiles = files.flatMap((one) => {
    const at = findingsIn(one.name);
    const isOld = one.isOld && !one.tests.some((test) => proving.has(test));
    const level = isOld ? ("warning" as const) : ("error" as const);
    const syntax = unread.filter((finding) => finding.file === one.name).map((it) => ({ ...it, level }));
    if (one.language === "other")
      return [at.warning(1, "ralph does not know the language, so it does not read these tests")];
    if (one.tests.length === 0) return [...syntax, at[level](1, "there is no test in it")];
    const ofTests = one.tests.flatMap((test) => {
      const told = one.news.includes(test) || proving.has(test) ? at.error : at.warning;
      if (test.skipped) return [told(test.line, `the test "${test.name}" is skipped or expected to fail`)];
      return test.asserts ? [] : [told(test.line, `the test "${test.name}" asserts nothing`)];
    });
    return [...syntax, ...ofTests];
  });
  return [
    ...missing.map((id) => error(lineOf(id), `${id} is ${where}: name it in the test that proves it`)),
    ...ofFiles,
  ];
}

/** `SC-1`, and `sc_1` as in the name of a function. */
function testsNaming(id: string, files: TestFile[], before: BeforeRun | undefined): TestBlock[] {
  const pattern = new RegExp(`SC[-_ ]?0*${id.slice("SC-".length)}(?!\\d)`, "i");
  const tests = files.flatMap((file) => (before?.onlyNew ? file.news : file.tests));
  return tests.filter(({ text }) => pattern.test(text));
}

const PARSE_MS = 60_000;

const PYTHON = `
import ast, sys
for name in sys.argv[1:]:
    try:
        ast.parse(open(name, encoding="utf-8").read(), name)
    except (SyntaxError, ValueError) as error:
        print(name, getattr(error, "lineno", None) or 1, getattr(error, "msg", error), sep="\\t")
`;

/** Files that their language cannot read. Languages without a parser here are left to their runner. */
async function syntaxFindings(workspace: string, files: TestFile[]): Promise<GateFinding[]> {
  const notParsed = (name: string, line: string, message: string): GateFinding =>
    findingsIn(name).error(Number(line), `it does not parse: ${message}`);
  const parse = (file: string, args: string[]) =>
    capture({ file, args, cwd: workspace, env: process.env }, { timeoutMs: PARSE_MS });
  const python = files.filter(({ language }) => language === "python").map(({ name }) => name);
  const found = which("python3", workspace, process.env["PATH"]);
  const ofPython = async (): Promise<GateFinding[]> => {
    if (python.length === 0 || found.status !== "found") return [];
    const { stdout } = await parse(found.path, ["-c", PYTHON, ...python]);
    return [...stdout.matchAll(/^(.*?)\t(.*?)\t(.*)$/gm)].map(([, name = "", line = "1", what = ""]) =>
      notParsed(name, line, what),
    );
  };
  const ofNode = async ({ name }: TestFile): Promise<GateFinding[]> => {
    const { ok, stderr } = await parse(process.execPath, ["--check", name]);
    if (ok) return [];
    const line = /:(\d+)$/m.exec(stderr.split("\n", 1)[0] ?? "")?.[1] ?? "1";
    return [notParsed(name, line, /^\w*Error: .*$/m.exec(stderr)?.[0] ?? "node cannot read it")];
  };
  const javascript = files.filter(({ name }) => /\.[cm]?js$/.test(name));
  return (await Promise.all([ofPython(), ...javascript.map(ofNode)])).flat();
}

const CHARS = 100_000;
const LINE_CHARS = 200;
const NOT_THERE = /No rule to make target|not found|no such file|permission denied|syntax error/i;

/** A suite that passes before anything was written proves nothing later. `file`: what the findings are about. */
export async function suiteFindings(
  command: string,
  { workspace, file, timeoutMs }: Pick<GateOptions, "workspace" | "file" | "timeoutMs">,
  files: TestFile[] = [],
): Promise<GateFinding[]> {
  const setup = { workspace, env: process.env, redact: (text: string): string => text, outputChars: CHARS };
  const context = { iteration: 0, kill: new AbortController().signal };
  const { event, tests } = await runCheck({ command, timeoutMs }, setup, context);
  const { exitCode, timedOut, output } = event;
  const said = (why: string): GateFinding[] => [findingsIn(file).error(1, `${command} ${why}`)];
  if (timedOut) return said(`did not end within ${formatDuration(timeoutMs)}`);
  if (exitCode === 126 || exitCode === 127) return said(`could not be started (exit code ${exitCode})`);
  // pytest exits with 5 when there was nothing to run.
  if (tests.foundNone() || (exitCode === 5 && /\bpytest\b/.test(command))) return said("found no tests");
  if (exitCode === 0) return said("passes before anything was implemented: such tests prove nothing");
  // A runner that is not known was there, and has something to say against the work.
  const complains = !isKnownRunner(command, workspace) && output.trim() !== "" && !NOT_THERE.test(output);
  const lines = output.split("\n").filter((line) => line.trim() !== "");
  if (complains || hasTests(output)) {
    const old = oldFailure(lines, files);
    return old === undefined ? [] : said(`fails in tests from before the run alone (${old}): ${NOT_PROVEN}`);
  }
  const telling = lines.find((line) => /error|not found|no such/i.test(line)) ?? lines.at(-1);
  const last = telling === undefined ? `exit code ${exitCode}` : oneLine(telling, LINE_CHARS);
  return said(`failed before it ran a test: ${last}`);
}

const NOT_PROVEN = "the new tests pass before anything was implemented, and prove nothing";

/** The first failure, where each one is that of a test from before the run: it proves nothing of the new ones. */
function oldFailure(lines: string[], files: TestFile[]): string | undefined {
  const failed = lines.filter((line) => NAMES_FAILURE.test(line) || /\bimported from\b/.test(line));
  const names = files.flatMap(({ name, tests, news }) => [
    ...tests.map((test) => ({ name: test.name, isNew: news.includes(test) })),
    // A file with both kinds says nothing.
    ...(news.length === 0 || news.length === tests.length ? [name, basename(name)] : []).map((path) => ({
      name: path,
      isNew: news.length > 0,
    })),
  ]);
  const isOld = (line: string): boolean => {
    const said = names.filter(({ name }) => name !== "" && line.includes(name));
    return said.length > 0 && said.every(({ isNew }) => !isNew);
  };
  return failed.every(isOld) && failed[0] !== undefined ? oneLine(failed[0], LINE_CHARS) : undefined;
}
