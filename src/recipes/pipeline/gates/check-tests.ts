import { type Before, type MarkedFile, marked } from "./before.js";
import { type Finding, findingsIn } from "./finding.js";
import { criterionIds } from "./prp.js";
import { syntaxFindings } from "./tests/syntax.js";
import type { TestBlock } from "./tests/test-block.js";
import { testFiles } from "./tests/test-files.js";

export interface Tests {
  workspace: string;
  /** The PRP, as the user knows it. */
  file: string;
  text: string;
  /** Folder or file with the tests; undefined: all of them. */
  tests: string | undefined;
  /** What was there before the run: it is warned about. */
  before?: Before | undefined;
}

/** Is there a sound test for every criterion of the PRP? */
export async function checkTests({ workspace, file, text, tests, before }: Tests): Promise<Finding[]> {
  const { error } = findingsIn(file);
  const ids = criterionIds(text);
  if (ids.length === 0) return [error(1, "it names no criterion SC-n: check the PRP first")];
  const files = marked(testFiles(workspace, tests), before);
  if (files.length === 0) return [error(1, `no test was found${tests === undefined ? "" : ` in ${tests}`}`)];
  const onlyNew = before?.onlyNew === true;
  const proofs = files.map((one) => proofsIn(one, ids, onlyNew));
  const missing = ids.filter((id) => !proofs.some((one) => one.ids.includes(id)));
  const where = onlyNew ? "in no test that is new or changed in this run" : "in no test";
  const syntax = await syntaxFindings(workspace, files);
  const old = new Set(
    files.filter(({ isOld }, index) => isOld && proofs[index]?.ids.length === 0).map(({ name }) => name),
  );
  return [
    ...missing.map((id) => error(lineOf(text, id), `${id} is ${where}: name it in the test that proves it`)),
    ...syntax.map((finding) => (old.has(finding.file) ? asWarning(finding) : finding)),
    ...files.flatMap((one, index) => testFindings(one, proofs[index]?.tests ?? [])),
  ];
}

/** Tests that name a criterion, for a first look. */
export function testsFor({ text, workspace, tests, before }: Omit<Tests, "file">): MarkedFile[] {
  const ids = criterionIds(text);
  const files = marked(testFiles(workspace, tests), before);
  return files.filter((file) => proofsIn(file, ids, before?.onlyNew === true).ids.length > 0);
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
): Finding[] {
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

function asWarning(finding: Finding): Finding {
  return { ...finding, level: "warning" };
}

function lineOf(text: string, id: string): number {
  const index = text.split("\n").findIndex((line) => new RegExp(`\\b${id}\\b`).test(line));
  return index + 1 || 1;
}
