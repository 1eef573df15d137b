import { type Dirent, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { z } from "zod";
import { orElse } from "../../../errors.js";
import { textAt } from "../../../workspace/content.js";
import { LANGUAGES, printOf, type TestBlock, testsIn } from "./languages.js";

export interface TestFile {
  /** From the workspace on. */
  name: string;
  text: string;
  /** "other": each line that names a criterion counts as a test. */
  language: keyof typeof LANGUAGES | "other";
  tests: TestBlock[];
  isOld: boolean;
  news: TestBlock[];
}

const KNOWN = Object.keys(LANGUAGES) as (keyof typeof LANGUAGES)[];
const OTHERS = /\.(?:rb|java|kt|php|sh|bats|cc?|cpp|cs|exs?|swift)$/;

const FOLDERS = /(?:^|\/)(?:tests?|__tests__|specs?)\//;
const NAMES = /(?:^|[._-])(?:tests?|spec)(?:[._-]|$)|(?:Tests?|Spec)\.\w+$/;

/** Tests use it, and it has none of its own. */
const HELPER =
  /(?:^|\/)tests?[._-]?(?:utils?|helpers?|setup|fixtures?|common|support|mocks?|data|config|env|kit)(?:[._-]|$)/i;

/** Every file that holds tests, or looks as if it should. `below`: a folder or a file to look at alone. */
export function testFiles(workspace: string, below: string | undefined, before?: BeforeRun): TestFile[] {
  const known = before?.prints ?? {};
  // A test that was only moved to another file is not new.
  const gone = Object.keys(known).filter((name) => !existsSync(join(workspace, name)));
  return namesBelow(workspace, below?.replace(/\/+$/, "") ?? ".").flatMap((name) => {
    const language = KNOWN.find((one) => LANGUAGES[one].files.test(name));
    if (language === undefined && !OTHERS.test(name)) return [];
    if (below === undefined && !looksLikeTests(name) && language !== "rust") return [];
    const text = readFileSync(join(workspace, name), "utf8");
    const tests = language === undefined ? linesWithCriteria(text) : testsIn(text, LANGUAGES[language]);
    if (tests.length === 0 && (!NAMES.test(basename(name)) || HELPER.test(name))) return [];
    const old = [name, ...gone].flatMap((one) => known[one] ?? []);
    const news = tests.filter(({ print }) => !old.includes(print));
    const isOld = known[name]?.includes(printOf(text)) === true;
    return [{ name, text, language: language ?? "other", tests, isOld, news }];
  });
}

export function looksLikeTests(name: string): boolean {
  return NAMES.test(basename(name)) || FOLDERS.test(name);
}

function linesWithCriteria(text: string): TestBlock[] {
  const lines = text.split("\n").map((line, index) => ({ name: "", line: index + 1, text: line }));
  const found = lines.filter((line) => /SC[-_ ]?\d/i.test(line.text));
  return found.map((line) => ({ ...line, asserts: true, skipped: false, print: printOf(line.text) }));
}

function namesBelow(workspace: string, below: string): string[] {
  const stat = statSync(join(workspace, below), { throwIfNoEntry: false });
  if (stat?.isDirectory() !== true) return stat === undefined ? [] : [below];
  return [...foldersIn(workspace, below)]
    .flatMap(([folder, entries]) =>
      entries.filter((entry) => entry.isFile()).map(({ name }) => join(folder, name)),
    )
    .sort();
}

/** Runners do not look for tests there. */
const LEFT_OUT = /^(?:\..*|node_modules|dist|build|target|vendor|venv|__pycache__|fixtures)$/;

/** From the workspace on. A folder that cannot be read is empty: no runner reads it. */
export function* foldersIn(
  workspace: string,
  folder: string,
): Generator<[folder: string, entries: Dirent[]]> {
  const path = join(workspace, folder);
  const entries: Dirent[] = orElse(() => readdirSync(path, { withFileTypes: true }), []);
  yield [folder, entries];
  for (const entry of entries)
    if (entry.isDirectory() && !LEFT_OUT.test(entry.name))
      yield* foldersIn(workspace, join(folder, entry.name));
}

/** What was there before a run began: it proves nothing of what the run was asked for. */
export interface BeforeRun {
  /** Fingerprints of the PRP and of files with tests, each with those of its tests. */
  prints: Record<string, string[]>;
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
  const prp = { name: prpFile, text: textAt(join(workspace, prpFile)) ?? "", tests: [] };
  const prints = [prp, ...files].map(({ name, text, tests }) => [
    name,
    [printOf(text), ...tests.map(({ print }) => print)],
  ]);
  writeFileSync(path, JSON.stringify(Object.fromEntries(prints)));
}

const PRINTS = z.record(z.string(), z.array(z.string()));

/** undefined: no run has written it down, so that everything counts. */
export function readBefore(path: string | undefined, onlyNew: boolean): BeforeRun | undefined {
  if (path === undefined || !existsSync(path)) return undefined;
  return { prints: PRINTS.parse(JSON.parse(readFileSync(path, "utf8"))), onlyNew };
}
