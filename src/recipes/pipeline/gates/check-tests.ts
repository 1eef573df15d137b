import { capture } from "../../../process/capture.js";
import { which } from "../../../process/which.js";
import { testCommand } from "../../../workspace/project.js";
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
import { suiteFindings } from "./suite.js";
import { type MarkedFile, markedFiles, type TestFile, type TestsBefore } from "./test-files.js";

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
    const findings = await checkTests({ workspace, file, text, tests, before });
    if (options.implemented || errorsIn(findings).length > 0) return findings;
    const command = options.testCommand ?? testCommand(workspace);
    if (command === undefined)
      return [
        ...findings,
        findingsIn(file).error(1, "no test command was found: give it with --test-command"),
      ];
    const files = before?.onlyNew ? markedFiles(workspace, tests, before) : [];
    return [
      ...findings,
      ...(await suiteFindings({ workspace, file: tests ?? file, command, timeoutMs, files })),
    ];
  },
};

export interface Tests extends Pick<GateOptions, "workspace" | "file" | "tests"> {
  /** Of the PRP. */
  text: string;
  before?: TestsBefore | undefined;
}

export async function checkTests({ workspace, file, text, tests, before }: Tests): Promise<GateFinding[]> {
  const { error } = findingsIn(file);
  const ids = criterionIds(text);
  if (ids.length === 0) return [error(1, "it names no criterion SC-n: check the PRP first")];
  const files = markedFiles(workspace, tests, before);
  if (files.length === 0) return [error(1, `no test was found${tests === undefined ? "" : ` in ${tests}`}`)];
  const onlyNew = before?.onlyNew === true;
  const proofs = files.map((one) => proofsIn(one, ids, onlyNew));
  const missing = ids.filter((id) => !proofs.some((one) => one.ids.includes(id)));
  const where = onlyNew ? "in no test that is new or changed in this run" : "in no test";
  const unproved = files.filter(({ isOld }, index) => isOld && proofs[index]?.ids.length === 0);
  const old = new Set(unproved.map(({ name }) => name));
  const lineOf = (id: string): number =>
    text.split("\n").findIndex((line) => new RegExp(`\\b${id}\\b`).test(line)) + 1 || 1;
  return [
    ...missing.map((id) => error(lineOf(id), `${id} is ${where}: name it in the test that proves it`)),
    ...(await syntaxFindings(workspace, files)).map(
      (finding): GateFinding => (old.has(finding.file) ? { ...finding, level: "warning" } : finding),
    ),
    ...files.flatMap((one, index) => testFindings(one, proofs[index]?.tests ?? [])),
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
    const lines = stdout.split("\n").filter(Boolean);
    return lines.map((line) => {
      const [name = "", number = "1", message = ""] = line.split("\t");
      return notParsed(name, number, message);
    });
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
