import { type Dirent, existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { looksLikeTests, testFiles } from "./gates/tests/test-files.js";
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

/** What is there that decides over these tests, wherever somebody has put it. */
export function decidingFiles(workspace: string, tests: string[]): string[] {
  const folders = new Set(["", ...tests.flatMap(foldersAbove)]);
  const beside = new Set(tests.map(folderOf));
  const found = [...foldersIn(workspace)].flatMap(({ folder, entries }) =>
    entries
      .filter(({ name }) => {
        if (name === "conftest.py") return true;
        if (!folders.has(folder)) return false;
        if (name === "node_modules") return folder !== "";
        if (name.endsWith(".pyc"))
          return beside.has(folder) && !entries.some((one) => `${one.name}c` === name);
        return DECIDES.test(name);
      })
      .map(({ name }) => pathOf(folder, name)),
  );
  return [...found, ...DECIDES_FROM_ROOT.filter((name) => existsSync(join(workspace, name)))];
}

/**
 * Takes away what Python has compiled: it would be run instead of the files that are looked at. Says what could
 * not be taken away, or undefined.
 */
export function dropCompiled(workspace: string): string | undefined {
  for (const { folder, entries } of foldersIn(workspace)) {
    if (!entries.some(({ name }) => name === "__pycache__")) continue;
    const path = pathOf(folder, "__pycache__");
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

/** What a runner that is not known does: nothing else would tell that it was emptied. */
export function runnerFiles(workspace: string): string[] {
  const files = ["package.json", ...MAKEFILES].filter((name) => existsSync(join(workspace, name)));
  const texts = files.map((name) => whatCounts(name, readFileSync(join(workspace, name), "utf8")));
  return [...files, ...scriptsIn(texts, workspace)];
}

function scriptsIn(texts: string[], workspace: string): string[] {
  const words = texts.flatMap((text) => text.match(/[^\s;&|()"'@]+/g) ?? []);
  const scripts = words.filter((word) => word.endsWith(".sh")).map((word) => word.replace(/^\.\//, ""));
  return [...new Set(scripts)].filter((file) =>
    statSync(join(workspace, file), { throwIfNoEntry: false })?.isFile(),
  );
}

interface Folder {
  /** From the workspace on; empty: the workspace itself. */
  folder: string;
  entries: Dirent[];
}

/** Runners do not look for tests there. */
const LEFT_OUT = new Set(["node_modules", "venv", "build", "dist", "target", "__pycache__"]);

function* foldersIn(workspace: string, folder = ""): Generator<Folder> {
  const entries = entriesOf(join(workspace, folder));
  yield { folder, entries };
  for (const entry of entries) {
    if (!entry.isDirectory() || entry.name.startsWith(".") || LEFT_OUT.has(entry.name)) continue;
    yield* foldersIn(workspace, pathOf(folder, entry.name));
  }
}

/** What nobody may read, no runner reads. */
function entriesOf(path: string): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch {
    return [];
  }
}

function pathOf(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}

function folderOf(file: string): string {
  const folder = dirname(file);
  return folder === "." ? "" : folder;
}

function foldersAbove(file: string): string[] {
  const folder = folderOf(file);
  return folder === "" || folder === "/" ? [] : [folder, ...foldersAbove(folder)];
}
