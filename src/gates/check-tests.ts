import { type Before, type MarkedFile, marked } from "./before.js";
import { type Finding, findingsIn } from "./finding.js";
import { criterionIds } from "./prp.js";
import { syntaxFindings } from "./tests/syntax.js";
import { testFiles } from "./tests/test-files.js";

export interface Tests {
  workspace: string;
  /** The PRP, as the user knows it. */
  file: string;
  text: string;
  /** Folder or file with the tests; undefined: all of them. */
  tests: string | undefined;
  /** What was there before the run: it is warned about, and covers no criterion. */
  before?: Before | undefined;
}

/** Is there a sound test for every criterion of the PRP? */
export async function checkTests({ workspace, file, text, tests, before }: Tests): Promise<Finding[]> {
  const { error } = findingsIn(file);
  const ids = criterionIds(text);
  if (ids.length === 0) return [error(1, "it names no criterion SC-n: check the PRP first")];
  const files = marked(testFiles(workspace, tests), before);
  if (files.length === 0) return [error(1, `no test was found${tests === undefined ? "" : ` in ${tests}`}`)];
  const missing = ids.filter((id) => !files.some((one) => covers(one, id)));
  const where = before === undefined ? "in no test" : "in no test that is new or changed in this run";
  const syntax = await syntaxFindings(workspace, files);
  const old = new Set(files.filter(({ isOld }) => isOld).map(({ name }) => name));
  return [
    ...missing.map((id) => error(lineOf(text, id), `${id} is ${where}: name it in the test that proves it`)),
    ...syntax.map((finding) => (old.has(finding.file) ? asWarning(finding) : finding)),
    ...files.flatMap(testFindings),
  ];
}

/** Tests that name a criterion, for a first look. */
export function testsFor({ text, workspace, tests, before }: Omit<Tests, "file">): MarkedFile[] {
  const ids = criterionIds(text);
  return marked(testFiles(workspace, tests), before).filter((file) => ids.some((id) => covers(file, id)));
}

/** `SC-1`, and `sc_1` as in the name of a function. Of other languages the whole file counts. */
function covers({ language, text, news }: MarkedFile, id: string): boolean {
  const pattern = new RegExp(`SC[-_ ]?0*${id.slice("SC-".length)}(?!\\d)`, "i");
  return language === "other" ? pattern.test(text) : news.some((test) => pattern.test(test.text));
}

/** Tests from before the run are not its work: they are only warned about. */
function testFindings({ name, language, tests, news, hadNoTests }: MarkedFile): Finding[] {
  const { error, warning } = findingsIn(name);
  if (language === "other")
    return [warning(1, "its tests are not looked into: the language is not known here")];
  if (tests.length === 0) return [(hadNoTests ? warning : error)(1, "there is no test in it")];
  return tests.flatMap((test) => {
    const told = news.includes(test) ? error : warning;
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
