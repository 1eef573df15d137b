import { createHash } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { z } from "zod";
import { orElse } from "../../errors.js";
import { textAt } from "../../workspace/content.js";
import { LANGUAGES, testsIn } from "./gates/languages.js";
import { criteriaIn } from "./gates/spec-gates.js";
import { foldersIn, looksLikeTests, testFiles } from "./gates/test-files.js";
import type { PipelineSpec, PipelineState } from "./spec.js";

export const NOT_SEALED: Seals = { files: {}, seen: {}, criteria: 0, tests: null };

/** What has passed its gate, and what judges it: agents must leave it as it was. */
export const Seals = z
  .object({
    /** Fingerprints of files, and the state that has seen each of them. */
    files: z.record(z.string(), z.object({ print: z.string(), since: z.string() })),
    /** Fingerprints as the last gate has left the files: what differs later was changed by hand. */
    seen: z.record(z.string(), z.string()),
    /** Criteria of the spec: none of them may get lost. */
    criteria: z.number(),
    /** The state that has seen the tests: nothing that decides over them may be added since. */
    tests: z.string().nullable(),
  })
  .catch(() => NOT_SEALED);

export type Seals = z.infer<typeof Seals>;

export function firstSealed(spec: PipelineSpec, workspace: string): Seals {
  const scripts = scriptsIn(workspace, ...spec.states.map(({ command }) => command));
  const files = [...scripts, ...runnerOf(spec.states[0], workspace)];
  return withFiles(spec, workspace, NOT_SEALED, files, "the run began");
}

/** What a gate has judged is sealed when it passes, and so is what will judge the work on the next state. */
export function sealedAfter(
  spec: PipelineSpec,
  workspace: string,
  state: PipelineState,
  before: Seals,
  isPassed: boolean,
): Seals {
  if (!isPassed) return withSeen(spec, workspace, before);
  const tests = TESTS_GATE.test(state.command) ? state.name : before.tests;
  const next = spec.states[spec.states.indexOf(state) + 1];
  const files = [...judgedBy(state, spec, workspace), ...runnerOf(next, workspace)];
  return withFiles(spec, workspace, { ...before, tests }, files, state.name);
}

/** What was changed after the stop was changed by hand, and counts as it is now. */
export function sealedByHand(spec: PipelineSpec, workspace: string, before: Seals): Seals {
  const now = withSeen(spec, workspace, before).seen;
  const changed = Object.keys(now).filter((file) => now[file] !== before.seen[file]);
  const isSealed = (file: string) => file !== spec.specFile || before.files[file] !== undefined;
  const files = { ...before.files, ...seals(changed.filter(isSealed), workspace, "the run was resumed") };
  const criteria = changed.includes(spec.specFile) ? criteriaOf(spec, workspace) : before.criteria;
  return { ...before, files, criteria };
}

/** Says what is not as it was, or undefined. */
export function whatWasChanged(spec: PipelineSpec, workspace: string, sealed: Seals): string | undefined {
  const { files, criteria, tests } = sealed;
  const changed = Object.entries(files).find(([file, { print }]) => printOf(workspace, file) !== print);
  if (changed !== undefined) return `${changed[0]} changed since ${changed[1].since}: restore it`;
  const [added] = addedFiles(workspace, sealed);
  if (added !== undefined) return `${added} was added since ${tests}, and decides which tests run: remove it`;
  const now = criteriaOf(spec, workspace);
  if (now >= criteria) return undefined;
  return `${spec.specFile} had ${criteria} success criteria, and only ${now} are left: restore the others`;
}

/** A gate passes only where all that is sealed is as it was, so that the first seal holds. */
function withFiles(
  spec: PipelineSpec,
  workspace: string,
  before: Seals,
  names: string[],
  since: string,
): Seals {
  const files = { ...seals(names, workspace, since), ...before.files };
  return withSeen(spec, workspace, { ...before, files, criteria: criteriaOf(spec, workspace) });
}

function withSeen({ specFile }: PipelineSpec, workspace: string, sealed: Seals): Seals {
  const names = [...Object.keys(sealed.files), ...addedFiles(workspace, sealed), specFile];
  return { ...sealed, seen: Object.fromEntries(names.map((file) => [file, printOf(workspace, file)])) };
}

function seals(files: string[], workspace: string, since: string): Seals["files"] {
  return Object.fromEntries(files.map((file) => [file, { print: printOf(workspace, file), since }]));
}

/** What decides over sealed tests and was not there when they were sealed. */
function addedFiles(workspace: string, { files, tests }: Seals): string[] {
  if (tests === null) return [];
  const found = decidingFiles(workspace, Object.keys(files));
  return found.filter((file) => files[file] === undefined && printOf(workspace, file) !== "");
}

function criteriaOf({ specFile }: PipelineSpec, workspace: string): number {
  return criteriaIn(textAt(resolve(workspace, specFile)) ?? "").length;
}

/** The fingerprint of what decides in a file: empty where nothing does. */
function printOf(workspace: string, file: string): string {
  const path = resolve(workspace, file);
  const text = textAt(path, Number.POSITIVE_INFINITY);
  if (text === undefined) return existsSync(path) ? "folder" : "none";
  const deciding = whatCounts(file, text);
  return deciding === "" ? "" : createHash("sha256").update(deciding).digest("hex").slice(0, 16);
}

const SPEC_GATE = /\bralph gate validate\b/;
const PRP_GATE = /\bralph gate check (?!-)/;
const TESTS_GATE = /\bralph gate check-tests\b|\bvalidate-tests\.sh\b/;

/** The folder or file that a gate of tests looks at, if it is named. */
export function testsOf({ command }: PipelineState): string | undefined {
  return /(?:--tests[ =]|validate-tests\.sh )(\S+)/.exec(command)?.[1];
}

function judgedBy(state: PipelineState, { specFile, prpFile }: PipelineSpec, workspace: string): string[] {
  const { command } = state;
  if (SPEC_GATE.test(command)) return [specFile];
  if (PRP_GATE.test(command)) return [prpFile];
  if (!TESTS_GATE.test(command)) return [];
  const tests = testFiles(workspace, testsOf(state)).map(({ name }) => name);
  return [prpFile, ...tests, ...decidingFiles(workspace, tests)];
}

/** What a runner that is not known does: nothing else would show that it was emptied. */
function runnerOf(state: PipelineState | undefined, workspace: string): string[] {
  if (state?.unknownRunner !== true) return [];
  const files = ["package.json", "GNUmakefile", "makefile", "Makefile"];
  const texts = files.map((name) => whatCounts(name, textAt(join(workspace, name)) ?? ""));
  return [...files.filter((name) => existsSync(join(workspace, name))), ...scriptsIn(workspace, ...texts)];
}

function scriptsIn(workspace: string, ...texts: string[]): string[] {
  const words = texts.flatMap((text) => text.match(/[^\s;&|()"'@]+\.sh(?=[\s;&|()"'@]|$)/g) ?? []);
  const isFile = (file: string) => statSync(join(workspace, file), { throwIfNoEntry: false })?.isFile();
  return words.map((word) => word.replace(/^\.\//, "")).filter(isFile);
}

/** Files beside tests, or above them, that decide which tests are run and how. */
const DECIDES = new RegExp(
  `^(?:${[
    "package\\.json|GNUmakefile|[mM]akefile|Cargo\\.toml|go\\.work|\\.npmrc|node\\.config\\.json|bunfig\\.toml",
    "pyproject\\.toml|setup\\.cfg|tox\\.ini|\\.?pytest\\.(?:ini|toml)|\\.rspec|phpunit\\.xml(?:\\.dist)?",
    // They would take the place of the runner.
    "(?:pytest|_pytest|unittest|sitecustomize|usercustomize)(?:\\.py)?",
    "(?:vitest|vite|jest|ava|playwright|cypress)\\.config\\.\\w+|vitest\\.(?:workspace|projects)\\.\\w+",
    "\\.mocharc(?:\\.\\w+)?|mocha\\.opts|\\.taprc|karma\\.conf\\.\\w+|jasmine\\.\\w+",
  ].join("|")})$`,
);
const DECIDES_FROM_ROOT = [".cargo/config", ".cargo/config.toml", ".config/nextest.toml"];

/** Files that decide over these tests, in whatever folder they are. */
function decidingFiles(workspace: string, tests: string[]): string[] {
  const around = new Set(tests.flatMap(foldersAbove)).add(".");
  const found = [...foldersIn(workspace, ".")].flatMap(([folder, entries]) => {
    const names = entries.map(({ name }) => name);
    // Packages of a workspace have node_modules of their own.
    const isShadow = folder !== "." && !names.includes("package.json");
    const decides = (name: string): boolean =>
      name === "conftest.py" ||
      (around.has(folder) && (name === "node_modules" ? isShadow : DECIDES.test(name)));
    return names.filter(decides).map((name) => join(folder, name));
  });
  return [...found, ...DECIDES_FROM_ROOT.filter((name) => existsSync(join(workspace, name)))];
}

function foldersAbove(file: string): string[] {
  const folder = dirname(file);
  return folder === "." || folder === "/" ? [] : [folder, ...foldersAbove(folder)];
}

/** Of these files some parts decide: those that begin with a line like `first`, and lines like `line`. */
const PARTS: { files: RegExp; begins?: RegExp; first?: RegExp; line?: RegExp }[] = [
  {
    files: /^(?:GNUm|[mM])akefile$/,
    begins: /^[^\s#:=][^:=]*:(?!=)/,
    first: /^[^:]*(?:test|check)/,
    // Rules of tests use variables, and take in other files.
    line: /^(?:(?:export|override)\s+)*[\w.-]+\s*[:?+!]{0,3}=|^[-s]?include\b|^define\b/,
  },
  {
    files: /^(?:pyproject\.toml|setup\.cfg|tox\.ini)$/,
    begins: /^\s*(?:\[|tool\.)/,
    first: /pytest|\btox\b|testenv/,
  },
  { files: /^Cargo\.toml$/, line: /^\s*(?:\[\[test\]\]|(?:autotests|harness|test|doctest)\s*=)/ },
  { files: /^\.npmrc$/, line: /^(?!\s*(?:$|[#;]|\/\/|(?:@[\w-]+:)?registry\b|(?:save|fund|audit)\b))/ },
];

/** The part of a file that decides over tests, or nothing; the rest of it is the agents' to change. */
function whatCounts(file: string, text: string): string {
  const name = basename(file);
  if (name === "package.json") return testScripts(text);
  if (/^vite\.config\./.test(name)) return /\btest\b|vitest|\balias\b/.test(text) ? text : "";
  // Rust has tests in the code itself, which has to change.
  if (LANGUAGES.rust.files.test(name) && !looksLikeTests(file))
    return testsIn(text, LANGUAGES.rust)
      .map((test) => test.text)
      .join("\n");
  const parts = PARTS.find(({ files }) => files.test(name));
  if (parts === undefined) return text;
  let isOpen = false;
  const lines = text.split("\n").filter((line) => {
    if (parts.begins?.test(line)) isOpen = parts.first?.test(line) === true;
    return line.trim() !== "" && (isOpen || parts.line?.test(line));
  });
  return lines.join("\n");
}

const PACKAGE = z.looseObject({ scripts: z.record(z.string(), z.string()).catch({}) });

/** Scripts of tests and those that they name, and the settings of runners. */
function testScripts(text: string): string {
  const found = orElse(() => PACKAGE.parse(JSON.parse(text)), undefined);
  if (found === undefined) return text;
  const scripts = Object.entries(found.scripts);
  const tests = scripts.filter(([name]) => name.includes("test"));
  const called = tests.flatMap(([, script]) => script.match(/[\w:.-]+/g) ?? []);
  const isCalled = (name: string) => called.includes(name) && !/build|lint|format|type/.test(name);
  const others = scripts.filter(([name]) => !name.includes("test") && isCalled(name));
  const settings = Object.entries(found).filter(([name]) => /^(?:jest|mocha|ava|vitest|tap)$/.test(name));
  const all = [...tests, ...others, ...settings];
  return all.length === 0 ? "" : JSON.stringify(all);
}
