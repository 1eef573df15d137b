import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { printOf, type TestBlock } from "./tests/test-block.js";
import { type TestFile, testFiles } from "./tests/test-files.js";

/** The PRP and the tests that were there before a run began: they prove nothing of what it was asked for. */
export interface Before {
  /** The fingerprint of the PRP, or null: there was none. */
  prp: string | null;
  files: Record<string, FileBefore>;
  /** Agents are asked for tests and a PRP: those from before do not count. */
  onlyNew: boolean;
}

interface FileBefore {
  print: string;
  /** Fingerprints of its tests; of a language that is not looked into, of the lines that name a criterion. */
  tests: string[];
}

/** `folders`: where tests are looked for beside the usual places. */
export function takeBefore(
  workspace: string,
  prpFile: string,
  folders: (string | undefined)[],
): Omit<Before, "onlyNew"> {
  const files = [undefined, ...folders].flatMap((folder) => testFiles(workspace, folder));
  return {
    prp: printOfFile(resolve(workspace, prpFile)),
    files: Object.fromEntries(
      files.map((file) => [file.name, { print: printOf(file.text), tests: printsOf(file) }]),
    ),
  };
}

export function writeBefore(path: string, before: Omit<Before, "onlyNew">): void {
  writeFileSync(path, JSON.stringify(before));
}

/** undefined: no run has written it down, so that everything counts. */
export function readBefore(path: string | undefined, onlyNew: boolean): Before | undefined {
  if (path === undefined || !existsSync(path)) return undefined;
  const { prp, files } = objectIn(JSON.parse(readFileSync(path, "utf8")));
  const known = Object.entries(objectIn(files)).map(([name, found]): [string, FileBefore] => {
    const { print, tests } = objectIn(found);
    const prints = Array.isArray(tests) ? tests.filter((one) => typeof one === "string") : [];
    return [name, { print: String(print), tests: prints }];
  });
  return { prp: typeof prp === "string" ? prp : null, files: Object.fromEntries(known), onlyNew };
}

function objectIn(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

/** The same files with what was there before the run marked as such. */
export function marked(files: TestFile[], before: Before | undefined): MarkedFile[] {
  if (before === undefined)
    return files.map((file) => ({ ...file, isOld: false, hadNoTests: false, news: file.tests }));
  const names = new Set(files.map(({ name }) => name));
  // A file that was only moved has no new tests.
  const gone = Object.entries(before.files).flatMap(([name, { tests }]) => (names.has(name) ? [] : tests));
  return files.map((file) => {
    const own = before.files[file.name];
    const old = new Set([...(own?.tests ?? []), ...gone]);
    return {
      ...file,
      text: file.language === "other" && before.onlyNew ? newLines(file.text, old) : file.text,
      isOld: own?.print === printOf(file.text),
      hadNoTests: own?.tests.length === 0,
      news: file.tests.filter((test) => !old.has(test.print)),
    };
  });
}

export interface MarkedFile extends TestFile {
  /** It is as it was before the run. */
  isOld: boolean;
  /** It was there before the run, without a test. */
  hadNoTests: boolean;
  /** Its tests that are new or changed in this run. */
  news: TestBlock[];
}

const NAMES_CRITERION = /SC[-_ ]?\d/i;

function newLines(text: string, old: Set<string>): string {
  const lines = text.split("\n").filter((line) => !NAMES_CRITERION.test(line) || !old.has(printOf(line)));
  return lines.join("\n");
}

function printsOf({ language, text, tests }: TestFile): string[] {
  if (language !== "other") return tests.map(({ print }) => print);
  return text
    .split("\n")
    .filter((line) => NAMES_CRITERION.test(line))
    .map(printOf);
}

function printOfFile(path: string): string | null {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ? printOf(readFileSync(path, "utf8")) : null;
}
