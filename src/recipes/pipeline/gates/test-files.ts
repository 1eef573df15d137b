import { type Dirent, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { LANGUAGES } from "./languages.js";
import { printOf, type TestBlock, testsIn } from "./scan.js";

export interface TestFile {
  /** From the workspace on. */
  name: string;
  text: string;
  /** "other": its tests are not looked into. */
  language: keyof typeof LANGUAGES | "other";
  tests: TestBlock[];
}

/** Languages whose tests are not looked into. */
const OTHERS = /\.(?:rb|java|kt|php|sh|bats|cc?|cpp|cs|exs?|swift)$/;

function languageOf(name: string): TestFile["language"] | undefined {
  const known = KNOWN.find((language) => LANGUAGES[language].files.test(name));
  return known ?? (OTHERS.test(name) ? "other" : undefined);
}

const KNOWN = Object.keys(LANGUAGES) as (keyof typeof LANGUAGES)[];

const FOLDERS = /(?:^|\/)(?:tests?|__tests__|specs?)\//;
const NAMES = /(?:^|[._-])(?:tests?|spec)(?:[._-]|$)|(?:Tests?|Spec)\.\w+$/;

/** Tests use it, and it has none of its own. */
const HELPER =
  /(?:^|\/)tests?[._-]?(?:utils?|helpers?|setup|fixtures?|common|support|mocks?|data|config|env|kit)(?:[._-]|$)/i;

/** Every file that holds tests, or looks as if it should. `below`: a folder or a file to look at alone. */
export function testFiles(workspace: string, below: string | undefined): TestFile[] {
  return namesBelow(workspace, below?.replace(/\/+$/, "") ?? ".").flatMap((name) => {
    const language = languageOf(name);
    if (language === undefined) return [];
    if (below === undefined && !looksLikeTests(name) && language !== "rust") return [];
    const text = readFileSync(join(workspace, name), "utf8");
    const tests = language === "other" ? [] : testsIn(text, LANGUAGES[language]);
    const isOne = tests.length > 0 || (isTestName(name) && !HELPER.test(name));
    return isOne ? [{ name, text, language, tests }] : [];
  });
}

export function looksLikeTests(name: string): boolean {
  return isTestName(name) || FOLDERS.test(name);
}

function isTestName(name: string): boolean {
  return NAMES.test(name.slice(name.lastIndexOf("/") + 1));
}

function namesBelow(workspace: string, below: string): string[] {
  const stat = statSync(join(workspace, below), { throwIfNoEntry: false });
  if (stat?.isDirectory() !== true) return stat === undefined ? [] : [below];
  const names = [...foldersIn(workspace, below, LEFT_OUT)].flatMap(([folder, entries]) =>
    entries
      .filter((entry) => entry.isFile() && !LEFT_OUT.test(entry.name))
      .map(({ name }) => join(folder, name)),
  );
  return names.filter((name) => languageOf(name) !== undefined).sort();
}

const LEFT_OUT = /^(?:\..*|node_modules|dist|build|target|vendor|venv|__pycache__|fixtures)$/;

/** From the workspace on. A folder that cannot be read is empty: no runner reads it. */
export function* foldersIn(
  workspace: string,
  folder: string,
  leftOut: RegExp,
): Generator<[folder: string, entries: Dirent[]]> {
  let entries: Dirent[] = [];
  try {
    entries = readdirSync(join(workspace, folder), { withFileTypes: true });
  } catch {}
  yield [folder, entries];
  for (const entry of entries)
    if (entry.isDirectory() && !leftOut.test(entry.name))
      yield* foldersIn(workspace, join(folder, entry.name), leftOut);
}

/** Of each file its fingerprint and those of its tests; of a language that is not looked into, of lines with criteria. */
const BEFORE = z.object({
  /** null: there was no PRP. */
  prp: z.string().nullable(),
  files: z.record(z.string(), z.object({ print: z.string(), tests: z.array(z.string()) })),
});

/** The PRP and the tests that were there before a run began: they prove nothing of what it was asked for. */
export interface TestsBefore extends z.infer<typeof BEFORE> {
  /** Agents are asked for tests and a PRP: those from before do not count. */
  onlyNew: boolean;
}

/** Writes down what is there before a run. `folders`: where tests are looked for beside the usual places. */
export function writeBefore(
  path: string,
  workspace: string,
  prpFile: string,
  folders: (string | undefined)[],
): void {
  const files = [undefined, ...folders].flatMap((folder) => testFiles(workspace, folder));
  const prp = resolve(workspace, prpFile);
  const before: z.infer<typeof BEFORE> = {
    prp: statSync(prp, { throwIfNoEntry: false })?.isFile() ? printOf(readFileSync(prp, "utf8")) : null,
    files: Object.fromEntries(
      files.map((file) => [file.name, { print: printOf(file.text), tests: printsOf(file) }]),
    ),
  };
  writeFileSync(path, JSON.stringify(before));
}

/** undefined: no run has written it down, so that everything counts. */
export function readBefore(path: string | undefined, onlyNew: boolean): TestsBefore | undefined {
  if (path === undefined || !existsSync(path)) return undefined;
  return { ...BEFORE.parse(JSON.parse(readFileSync(path, "utf8"))), onlyNew };
}

/** A file with what has changed in it since the run began. */
export interface MarkedFile extends TestFile {
  /** It is as it was before the run. */
  isOld: boolean;
  /** It was there before the run, without a test. */
  hadNoTests: boolean;
  /** Its tests that are new or changed in this run. */
  news: TestBlock[];
}

export function markedFiles(
  workspace: string,
  below: string | undefined,
  before: TestsBefore | undefined,
): MarkedFile[] {
  const files = testFiles(workspace, below);
  if (before === undefined)
    return files.map((file) => ({ ...file, isOld: false, hadNoTests: false, news: file.tests }));
  const names = new Set(files.map(({ name }) => name));
  // A file that was only moved has no new tests.
  const gone = Object.entries(before.files).flatMap(([name, { tests }]) => (names.has(name) ? [] : tests));
  return files.map((file) => {
    const own = before.files[file.name];
    const old = new Set([...(own?.tests ?? []), ...gone]);
    const isNew = (line: string): boolean => !NAMES_CRITERION.test(line) || !old.has(printOf(line));
    return {
      ...file,
      text:
        file.language === "other" && before.onlyNew
          ? file.text.split("\n").filter(isNew).join("\n")
          : file.text,
      isOld: own?.print === printOf(file.text),
      hadNoTests: own?.tests.length === 0,
      news: file.tests.filter((test) => !old.has(test.print)),
    };
  });
}

const NAMES_CRITERION = /SC[-_ ]?\d/i;

function printsOf({ language, text, tests }: TestFile): string[] {
  if (language !== "other") return tests.map(({ print }) => print);
  const lines = text.split("\n").filter((line) => NAMES_CRITERION.test(line));
  return lines.map(printOf);
}
