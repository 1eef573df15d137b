import { existsSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { textAt } from "../../workspace/content.js";
import { foldersIn, looksLikeTests, testFiles } from "./gates/test-files.js";

const MAKEFILES = ["GNUmakefile", "makefile", "Makefile"];

/** Files beside tests, or above them, that decide which tests are run and how. */
const DECIDES = new RegExp(
  `^(?:${[
    "package\\.json|GNUmakefile|[mM]akefile|Cargo\\.toml|go\\.work|\\.npmrc|node\\.config\\.json|bunfig\\.toml",
    "pyproject\\.toml|setup\\.cfg|tox\\.ini|\\.?pytest\\.(?:ini|toml)|conftest\\.py|\\.rspec|phpunit\\.xml(?:\\.dist)?",
    // They would take the place of the runner.
    "(?:pytest|_pytest|unittest|sitecustomize|usercustomize)(?:\\.py)?",
    "(?:vitest|vite|jest|ava|playwright|cypress)\\.config\\.\\w+|vitest\\.(?:workspace|projects)\\.\\w+",
    "\\.mocharc(?:\\.\\w+)?|mocha\\.opts|\\.taprc|karma\\.conf\\.\\w+|jasmine\\.\\w+",
  ].join("|")})$`,
);
const DECIDES_FROM_ROOT = [".cargo/config", ".cargo/config.toml", ".config/nextest.toml"];

/** The tests, and what decides how they are run. Rust has tests in the code itself, which has to change. */
export function testParts(workspace: string, tests: string | undefined): string[] {
  const names = testFiles(workspace, tests)
    .filter(({ name, language }) => language !== "rust" || looksLikeTests(name))
    .map(({ name }) => name);
  return [...new Set([...names, ...decidingFiles(workspace, names)])];
}

/** Files that decide over these tests, in whatever folder they are. */
export function decidingFiles(workspace: string, tests: string[]): string[] {
  const around = new Set([".", ...tests.flatMap(foldersAbove)]);
  const beside = new Set(tests.map((file) => dirname(file)));
  const found = [...foldersIn(workspace, ".", LEFT_OUT)].flatMap(([folder, entries]) => {
    const names = entries.map(({ name }) => name);
    const decides = (name: string): boolean => {
      if (name === "conftest.py") return true;
      if (!around.has(folder)) return false;
      if (name === "node_modules") return folder !== ".";
      if (name.endsWith(".pyc")) return beside.has(folder) && !names.includes(name.slice(0, -1));
      return DECIDES.test(name);
    };
    return names.filter(decides).map((name) => join(folder, name));
  });
  return [...found, ...DECIDES_FROM_ROOT.filter((name) => existsSync(join(workspace, name)))];
}

function foldersAbove(file: string): string[] {
  const folder = dirname(file);
  return folder === "." || folder === "/" ? [] : [folder, ...foldersAbove(folder)];
}

/** Removes what Python has compiled: it would run instead of the files that are checked. Says what stays, or undefined. */
export function dropCompiled(workspace: string): string | undefined {
  for (const [folder, entries] of foldersIn(workspace, ".", LEFT_OUT)) {
    if (!entries.some(({ name }) => name === "__pycache__")) continue;
    const path = join(folder, "__pycache__");
    try {
      rmSync(join(workspace, path), { recursive: true, force: true });
    } catch {
      return `${path} cannot be deleted: delete it`;
    }
  }
  return undefined;
}

/** What a runner that is not known does: nothing else would show that it was emptied. */
export function runnerFiles(workspace: string): string[] {
  const texts = ["package.json", ...MAKEFILES].flatMap((name) => {
    const text = textAt(join(workspace, name));
    return text === undefined ? [] : [{ name, text: whatCounts(name, text) }];
  });
  return [...texts.map(({ name }) => name), ...scriptsIn(workspace, ...texts.map(({ text }) => text))];
}

/** Scripts of the project that the texts name. */
export function scriptsIn(workspace: string, ...texts: string[]): string[] {
  const words = texts.flatMap((text) => text.match(/[^\s;&|()"'@]+/g) ?? []);
  const scripts = words.filter((word) => word.endsWith(".sh")).map((word) => word.replace(/^\.\//, ""));
  const isFile = (file: string) => statSync(join(workspace, file), { throwIfNoEntry: false })?.isFile();
  return [...new Set(scripts)].filter(isFile);
}

/** Runners do not look for tests there. */
const LEFT_OUT = /^(?:\..*|node_modules|venv|build|dist|target|__pycache__)$/;

/** The part of a file that decides over tests, or nothing; the rest of it is the agents' to change. */
export function whatCounts(file: string, text: string): string {
  const name = basename(file);
  if (name === "package.json") return testScripts(text);
  if (MAKEFILES.includes(name))
    return `${partsOf(text, /^[^\s#:=][^:=]*:(?!=)/, /^[^:]*(?:test|check)/)}${linesLike(text, MAKE_SETTING)}`;
  if (name === "pyproject.toml" || name === "setup.cfg" || name === "tox.ini")
    return `${partsOf(text, /^\s*\[/, /pytest|\btox\b|testenv/)}${linesLike(text, PYTEST_KEY)}`;
  // Such a file decides where others are not read any more, also when it is empty.
  if (/^\.?pytest\.(?:ini|toml)$/.test(name)) return `${name}\n${text}`;
  if (name === "Cargo.toml")
    return linesLike(text, /^\s*(?:\[\[test\]\]|(?:autotests|harness|test|doctest)\s*=)/);
  if (name === ".npmrc")
    return linesLike(text, /^(?!\s*(?:$|[#;]|\/\/|(?:@[\w-]+:)?registry\b|(?:save|fund|audit)\b))/);
  if (/^vite\.config\./.test(name)) return /\btest\b|vitest|\balias\b/.test(text) ? text : "";
  return text;
}

/** Rules of tests use variables, and take in other files. */
const MAKE_SETTING = /^(?:(?:export|override)\s+)*[\w.-]+\s*(?:[:?+!]{0,3})=|^[-s]?include\b|^define\b/;

/** Keys may be written without a section: `tool.pytest.ini_options.addopts = …`. */
const PYTEST_KEY = /^\s*["']?(?:tool["']?\s*\.\s*["']?)?pytest\b/;

const PACKAGE = z.looseObject({ scripts: z.record(z.string(), z.coerce.string()).catch({}) });

/** Scripts of tests, and those that they call. */
function testScripts(text: string): string {
  let found: z.infer<typeof PACKAGE>;
  try {
    found = PACKAGE.parse(JSON.parse(text.replace(/^\uFEFF/, "")));
  } catch {
    return text;
  }
  const scripts = Object.entries(found.scripts);
  const names = new Set(Object.keys(found.scripts).filter((name) => name.includes("test")));
  for (let size = 0; size !== names.size; ) {
    size = names.size;
    const called = scripts.flatMap(([name, script]) => (names.has(name) && script.match(/[\w:.-]+/g)) || []);
    for (const [name] of scripts)
      if (called.includes(name) && !/build|lint|format|type/.test(name)) names.add(name);
  }
  const ofTests = scripts.filter(([name]) => names.has(name));
  const settings = ["jest", "mocha", "ava", "vitest", "tap"]
    .filter((name) => found[name] !== undefined)
    .map((name) => [name, found[name]]);
  return ofTests.length + settings.length === 0 ? "" : JSON.stringify([ofTests, settings]);
}

function linesLike(text: string, isMeant: RegExp): string {
  const lines = text.split("\n").filter((line) => isMeant.test(line));
  return lines.map((line) => `\n${line.trim()}`).join("");
}

/** The parts of a text whose first line is meant. */
function partsOf(text: string, isFirst: RegExp, isMeant: RegExp): string {
  let isOpen = false;
  const lines = text.split("\n").filter((line) => {
    if (isFirst.test(line)) isOpen = isMeant.test(line);
    return isOpen && line.trim() !== "";
  });
  return lines.join("\n");
}
