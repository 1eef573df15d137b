import { type Finding, findingsIn } from "./finding.js";
import { criterionIds } from "./prp.js";
import { syntaxFindings } from "./tests/syntax.js";
import { type TestFile, testFiles } from "./tests/test-files.js";

export interface Tests {
  workspace: string;
  /** The PRP, as the user knows it. */
  file: string;
  text: string;
  /** Folder or file with the tests; undefined: all of them. */
  tests: string | undefined;
}

/** Is there a sound test for every criterion of the PRP? */
export async function checkTests({ workspace, file, text, tests }: Tests): Promise<Finding[]> {
  const { error } = findingsIn(file);
  const ids = criterionIds(text);
  if (ids.length === 0) return [error(1, "it names no criterion SC-n: check the PRP first")];
  const files = testFiles(workspace, tests);
  if (files.length === 0) return [error(1, `no test was found${tests === undefined ? "" : ` in ${tests}`}`)];
  const missing = ids.filter((id) => !files.some((one) => covers(one, id)));
  return [
    ...missing.map((id) =>
      error(lineOf(text, id), `${id} is in no test: name it in the test that proves it`),
    ),
    ...(await syntaxFindings(workspace, files)),
    ...files.flatMap(testFindings),
  ];
}

/** Tests that name a criterion, for a first look. */
export function testsFor(text: string, workspace: string, tests: string | undefined): TestFile[] {
  const ids = criterionIds(text);
  return testFiles(workspace, tests).filter((file) => ids.some((id) => covers(file, id)));
}

/** `SC-1`, and `sc_1` as in the name of a function. Of other languages the whole file counts. */
function covers({ language, text, tests }: TestFile, id: string): boolean {
  const pattern = new RegExp(`SC[-_ ]?0*${id.slice("SC-".length)}(?!\\d)`, "i");
  return language === "other" ? pattern.test(text) : tests.some((test) => pattern.test(test.text));
}

function testFindings({ name, language, tests }: TestFile): Finding[] {
  const { error, warning } = findingsIn(name);
  if (language === "other")
    return [warning(1, "its tests are not looked into: the language is not known here")];
  if (tests.length === 0) return [error(1, "there is no test in it")];
  return tests.flatMap((test) => {
    if (test.skipped) return [error(test.line, `the test "${test.name}" is skipped`)];
    return test.asserts ? [] : [error(test.line, `the test "${test.name}" asserts nothing`)];
  });
}

function lineOf(text: string, id: string): number {
  const index = text.split("\n").findIndex((line) => new RegExp(`\\b${id}\\b`).test(line));
  return index + 1 || 1;
}
