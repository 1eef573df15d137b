import { type Dirent, existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { textAt } from "../../workspace/content.js";
import { looksLikeTests, testFiles } from "./gates/test-files.js";
import type { PipelineState } from "./spec.js";
import { MAKEFILES, whatCounts } from "./what-counts.js";

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
  const found = [...foldersIn(workspace)].flatMap(([folder, entries]) => {
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
  for (const [folder, entries] of foldersIn(workspace)) {
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

/** Scripts of the project that are gates. */
export function gateScripts(states: PipelineState[], workspace: string): string[] {
  return scriptsIn(
    states.map(({ command }) => command),
    workspace,
  );
}

/** What a runner that is not known does: nothing else would show that it was emptied. */
export function runnerFiles(workspace: string): string[] {
  const texts = ["package.json", ...MAKEFILES].flatMap((name) => {
    const text = textAt(join(workspace, name));
    return text === undefined ? [] : [[name, whatCounts(name, text)] as const];
  });
  const scripts = scriptsIn(
    texts.map(([, text]) => text),
    workspace,
  );
  return [...texts.map(([name]) => name), ...scripts];
}

function scriptsIn(texts: string[], workspace: string): string[] {
  const words = texts.flatMap((text) => text.match(/[^\s;&|()"'@]+/g) ?? []);
  const scripts = words.filter((word) => word.endsWith(".sh")).map((word) => word.replace(/^\.\//, ""));
  const isFile = (file: string) => statSync(join(workspace, file), { throwIfNoEntry: false })?.isFile();
  return [...new Set(scripts)].filter(isFile);
}

/** Runners do not look for tests there. */
const LEFT_OUT = new Set(["node_modules", "venv", "build", "dist", "target", "__pycache__"]);

/** From the workspace on. A folder that cannot be read is empty: no runner reads it. */
function* foldersIn(workspace: string, folder = "."): Generator<[folder: string, entries: Dirent[]]> {
  const entries = entriesOf(join(workspace, folder));
  yield [folder, entries];
  for (const entry of entries) {
    if (!entry.isDirectory() || entry.name.startsWith(".") || LEFT_OUT.has(entry.name)) continue;
    yield* foldersIn(workspace, join(folder, entry.name));
  }
}

function entriesOf(path: string): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch {
    return [];
  }
}
