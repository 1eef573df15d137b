import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { looksLikeTests, testFiles } from "../../gates/tests/test-files.js";
import type { PipelineState } from "./pipeline-state.js";

const MAKEFILES = ["GNUmakefile", "makefile", "Makefile"];

/** What decides how tests are run, beside the tests. */
const SETTINGS = [
  "package.json",
  ...MAKEFILES,
  "pyproject.toml",
  "setup.cfg",
  "tox.ini",
  ".mocharc.json",
  ".mocharc.js",
  ...["vitest", "jest"].flatMap((name) =>
    ["js", "ts", "mjs", "cjs", "mts"].map((end) => `${name}.config.${end}`),
  ),
];

/** These decide even when somebody adds them later. */
const SETTINGS_OF_PYTEST = ["pytest.ini", "conftest.py", "tests/conftest.py"];

/** The tests, and what decides how they are run. Rust has tests in the code itself, which has to change. */
export function testParts(workspace: string, tests: string | undefined): string[] {
  const names = testFiles(workspace, tests)
    .filter(({ name, language }) => language !== "rust" || looksLikeTests(name))
    .map(({ name }) => name);
  const settings = SETTINGS.filter((name) => existsSync(join(workspace, name)));
  const ofPytest = names.some((name) => name.endsWith(".py")) ? SETTINGS_OF_PYTEST : [];
  return [...new Set([...names, ...settings, ...ofPytest])];
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

/** The part of a file that decides; the rest of it is the agents' to change. */
export function whatCounts(file: string, text: string): string {
  if (file === "package.json") return testScripts(text);
  if (MAKEFILES.includes(file)) return rulesOfTests(text);
  if (!["pyproject.toml", "setup.cfg", "tox.ini"].includes(file)) return text;
  return sectionsOfPytest(text);
}

function testScripts(text: string): string {
  try {
    const { scripts = {}, jest, mocha, ava } = JSON.parse(text) as Record<string, unknown>;
    const ofTests = Object.entries(scripts as object).filter(([name]) => name.includes("test"));
    return JSON.stringify([ofTests, jest, mocha, ava]);
  } catch {
    return text;
  }
}

function rulesOfTests(text: string): string {
  return partsOf(text, /^[^\s#:=][^:=]*:(?!=)/, /^[^:]*(?:test|check)/);
}

function sectionsOfPytest(text: string): string {
  return partsOf(text, /^\[/, /pytest/);
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
