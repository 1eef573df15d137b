import { basename } from "node:path";
import { formatDuration } from "../../../duration.js";
import { capture } from "../../../process/capture.js";
import { which } from "../../../process/which.js";
import { type CheckResult, runCheck } from "../../../verify/check.js";
import { oneLine } from "../../../verify/excerpt.js";
import { hasTests } from "../../../verify/no-tests.js";
import { testCommand } from "../../../workspace/project.js";
import { isKnownRunner } from "../../../workspace/runner.js";
import {
  errorsIn,
  findingsIn,
  type Gate,
  type GateFinding,
  type GateOptions,
  instructionFile,
} from "./gate.js";
import { criterionIds } from "./prp.js";
import type { TestBlock } from "./scan.js";
import { type MarkedFile, markedFiles, type TestFile } from "./test-files.js";

/** Are there tests for the criteria of the PRP? */
export const IMPLEMENT: Gate = {
  about: "PRP",
  passed: "Instruction generated",
  judge(text, { workspace, file, tests, before }) {
    const ids = criterionIds(text);
    const onlyNew = before?.onlyNew === true;
    const files = markedFiles(workspace, tests, before);
    if (files.some((one) => proofsIn(one, ids, onlyNew).ids.length > 0)) return [];
    const where = `${onlyNew ? " that are new or changed in this run" : ""}${tests === undefined ? "" : ` in ${tests}`}`;
    const how = `${instructionFile("implement")} says how to write them`;
    return [findingsIn(file).error(1, `there are no tests for its criteria${where} yet: ${how}`)];
  },
};

/** Is there a sound test for every criterion of the PRP, and does the suite fail before anything is implemented? */
export const CHECK_TESTS: Gate = {
  about: "PRP",
  passed: "All tests valid and match PRP criteria",
  async judge(text, options) {
    const { workspace, file, tests, timeoutMs, before } = options;
    const findings = await checkTests({ ...options, text });
    if (options.implemented || errorsIn(findings).length > 0) return findings;
    const command = options.testCommand ?? testCommand(workspace);
    const files = before?.onlyNew ? markedFiles(workspace, tests, before) : [];
    const ofSuite =
      command === undefined
        ? [findingsIn(file).error(1, "no test command was found: give it with --test-command")]
        : await suiteFindings({ workspace, file: tests ?? file, command, timeoutMs, files });
    return [...findings, ...ofSuite];
  },
};

/** `text`: of the PRP. */
type Tests = Pick<GateOptions, "workspace" | "file" | "tests" | "before"> & { text: string };

export async function checkTests({ workspace, file, text, tests, before }: Tests): Promise<GateFinding[]> {
  const { error } = findingsIn(file);
  const ids = criterionIds(text);
  if (ids.length === 0) return [error(1, "it names no criterion SC-n: check the PRP first")];
  const files = markedFiles(workspace, tests, before);
  if (files.length === 0) return [error(1, `no test was found${tests === undefined ? "" : ` in ${tests}`}`)];
  const onlyNew = before?.onlyNew === true;
  const proved = files.map((one) => ({ file: one, ...proofsIn(one, ids, onlyNew) }));
  const missing = ids.filter((id) => !proved.some((one) => one.ids.includes(id)));
  const where = onlyNew ? "in no test that is new or changed in this run" : "in no test";
  const isOld = (name: string) =>
    proved.some((one) => one.file.name === name && one.file.isOld && one.ids.length === 0);
  const lineOf = (id: string): number =>
    text.split("\n").findIndex((line) => new RegExp(`\\b${id}\\b`).test(line)) + 1 || 1;
  return [
    ...missing.map((id) => error(lineOf(id), `${id} is ${where}: name it in the test that proves it`)),
    ...(await syntaxFindings(workspace, files)).map(
      (finding): GateFinding => (isOld(finding.file) ? { ...finding, level: "warning" } : finding),
    ),
    ...proved.flatMap((one) => testFindings(one.file, one.tests)),
  ];
}

interface Proofs {
  /** The criteria that are named. */
  ids: string[];
  tests: TestBlock[];
}

/** `SC-1`, and `sc_1` as in the name of a function. Of other languages the whole file counts. */
function proofsIn({ language, text, tests, news }: MarkedFile, ids: string[], onlyNew: boolean): Proofs {
  const pattern = (id: string): RegExp => new RegExp(`SC[-_ ]?0*${id.slice("SC-".length)}(?!\\d)`, "i");
  if (language === "other") return { ids: ids.filter((id) => pattern(id).test(text)), tests: [] };
  const naming = (id: string): TestBlock[] =>
    (onlyNew ? news : tests).filter((test) => pattern(id).test(test.text));
  return { ids: ids.filter((id) => naming(id).length > 0), tests: ids.flatMap(naming) };
}

/** Tests from before the run that prove nothing of it are not its work: they are only warned about. */
function testFindings(
  { name, language, tests, news, hadNoTests }: MarkedFile,
  proofs: TestBlock[],
): GateFinding[] {
  const { error, warning } = findingsIn(name);
  if (language === "other")
    return [warning(1, "its tests are not looked into: the language is not known here")];
  if (tests.length === 0) return [(hadNoTests ? warning : error)(1, "there is no test in it")];
  return tests.flatMap((test) => {
    const told = news.includes(test) || proofs.includes(test) ? error : warning;
    if (test.skipped) return [told(test.line, `the test "${test.name}" is ${test.skipped}`)];
    return test.asserts ? [] : [told(test.line, `the test "${test.name}" asserts nothing`)];
  });
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

interface Suite {
  workspace: string;
  /** What the findings are about. */
  file: string;
  command: string;
  timeoutMs: number;
  /** Where its tests are. */
  files?: MarkedFile[] | undefined;
}

const CHARS = 100_000;
const LINE_CHARS = 200;

/** A suite that passes before anything was written proves nothing later. */
export async function suiteFindings(suite: Suite): Promise<GateFinding[]> {
  const { workspace, file, command, timeoutMs, files = [] } = suite;
  const setup = { workspace, env: process.env, redact: (text: string): string => text };
  const { signal: kill } = new AbortController();
  const result = await runCheck({ command, timeoutMs, chars: CHARS }, setup, { iteration: 0, kill });
  const why = whyUseless(suite, result) ?? onlyOldFail(result.event.output, files);
  return why === undefined ? [] : [findingsIn(file).error(1, `${command} ${why}`)];
}

/** pytest exits so when there was nothing to run. */
const PYTEST_NONE = 5;
const NOT_THERE = /No rule to make target|not found|no such file|permission denied|syntax error/i;

function whyUseless(
  { command, timeoutMs, workspace }: Suite,
  { event, tests }: CheckResult,
): string | undefined {
  const { exitCode, timedOut, output } = event;
  if (timedOut) return `did not end within ${formatDuration(timeoutMs)}`;
  if (exitCode === 126 || exitCode === 127) return `could not be started (exit code ${exitCode})`;
  const isPytest = /\bpytest\b/.test(command);
  if (tests.foundNone() || (isPytest && exitCode === PYTEST_NONE)) return "found no tests";
  if (exitCode === 0) return "passes before anything was implemented: such tests prove nothing";
  // A runner that is not known was there, and has something to say against the work.
  const complains = !isKnownRunner(command, workspace) && output.trim() !== "" && !NOT_THERE.test(output);
  if (complains || hasTests(output)) return undefined;
  const lines = output.split("\n").filter((line) => line.trim() !== "");
  const telling = lines.find((line) => /error|not found|no such/i.test(line)) ?? lines.at(-1);
  return `failed before it ran a test: ${telling === undefined ? `exit code ${exitCode}` : oneLine(telling, LINE_CHARS)}`;
}

/** How runners name a test that failed, or a file with tests that cannot be read. */
const FAILED_TEST =
  /^\s*(?:FAILED|ERROR|FAIL:?|not ok \d+|✖|✗|×|❯|●|--- FAIL:|_* ?ERROR collecting)\s+\S|^test .* \.\.\. FAILED$|\bimported from\b/;

/** Tests that failed before the run began prove nothing of the new ones. Says so where the output tells for sure. */
function onlyOldFail(output: string, files: MarkedFile[]): string | undefined {
  const failed = output.split("\n").filter((line) => FAILED_TEST.test(line));
  const names = files.map(({ name, tests, news, isOld }) => {
    const [own, old] = [news.map((test) => test.name), tests.filter((test) => !news.includes(test))];
    const both = [name, basename(name)];
    return {
      news: [...own, ...(news.length === tests.length ? both : [])],
      olds: [...old.map((test) => test.name), ...(isOld ? both : [])],
    };
  });
  const says = (line: string, which: "news" | "olds"): boolean =>
    names.some((file) => file[which].some((name) => name !== "" && line.includes(name)));
  if (failed.length === 0 || !failed.every((line) => says(line, "olds") && !says(line, "news")))
    return undefined;
  return `fails in tests from before the run alone (${oneLine(failed[0] ?? "", LINE_CHARS)}): the new tests pass before anything was implemented, and prove nothing`;
}
