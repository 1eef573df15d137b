import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { orElse } from "../errors.js";
import { quoteWord } from "../words.js";
import { textAt } from "./content.js";

/** A command of the project itself that can judge the work. */
interface ProjectCommand {
  command: string;
  purpose: "test" | "lint";
}

/** The project's own test and lint commands, as far as its files tell. */
export function projectCommands(workspace: string): ProjectCommand[] {
  const has = (...names: string[]): boolean => names.some((name) => existsSync(join(workspace, name)));
  const text = (name: string): string => textOf(workspace, name);
  const scripts = scriptsOf(workspace);
  const runner = SCRIPT_RUNNERS.find(([lock]) => has(lock))?.[1] ?? "npm";
  const python = text("pyproject.toml");
  const makefile = makefileOf(workspace);
  const hasRule = (name: string): boolean =>
    new RegExp(`^(?:[\\w.-]+ +)*${name}(?: +[\\w.-]+)*\\s*::?(?![:=])`, "m").test(makefile);
  const usesPytest =
    has("pytest.ini", "conftest.py") ||
    /^\[tool\.pytest\b|["']pytest\b|^pytest\s*=/m.test(python) ||
    REQUIREMENTS.some((name) => /^pytest\b/m.test(text(name))) ||
    /^\[(?:tool:)?pytest\]/m.test(text("setup.cfg") + text("tox.ini")) ||
    [".", "tests", "test"].some((folder) => hasPythonTests(join(workspace, folder), folder === "." ? 0 : 2));
  const found: [isThere: boolean, purpose: ProjectCommand["purpose"], command: string][] = [
    // `npm init` writes a test that always fails.
    [Boolean(scripts["test"]) && !/no test specified/.test(scripts["test"] ?? ""), "test", `${runner} test`],
    [Boolean(scripts["lint"]), "lint", runner === "npm" ? "npm run lint" : `${runner} lint`],
    [usesPytest, "test", "pytest"],
    [has("ruff.toml", ".ruff.toml") || /^\[tool\.ruff\b/m.test(python), "lint", "ruff check ."],
    [has("Cargo.toml"), "test", "cargo test"],
    [has("Cargo.toml"), "lint", "cargo clippy -- -D warnings"],
    [has("go.mod"), "test", "go test ./..."],
    [has("go.mod"), "lint", "go vet ./..."],
    [hasRule("test"), "test", "make test"],
    [hasRule("lint"), "lint", "make lint"],
  ];
  return found.flatMap(([isThere, purpose, command]) => (isThere ? [{ command, purpose }] : []));
}

/** The command that runs the project's tests, as far as its files tell. */
export function testCommand(workspace: string): string | undefined {
  const found = projectCommands(workspace).find(({ purpose }) => purpose === "test")?.command;
  if (found !== "pytest") return found;
  const isElsewhere = !existsSync(join(workspace, "tests")) && existsSync(join(workspace, "test"));
  return isElsewhere ? "pytest -v" : "pytest tests/ -v";
}

const SCRIPT_RUNNERS: [lock: string, program: string][] = [
  ["pnpm-lock.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["bun.lock", "bun run"],
  ["bun.lockb", "bun run"],
];

const REQUIREMENTS = [
  "requirements.txt",
  "requirements-dev.txt",
  "dev-requirements.txt",
  "requirements/dev.txt",
];

function hasPythonTests(folder: string, depth: number): boolean {
  let names: string[] = [];
  try {
    names = readdirSync(folder);
  } catch {
    // What cannot be read suggests nothing.
  }
  if (names.some((name) => /^test_.*\.py$|_test\.py$/.test(name))) return true;
  return (
    depth > 0 && names.some((name) => !name.includes(".") && hasPythonTests(join(folder, name), depth - 1))
  );
}

/** The scripts of package.json. */
function scriptsOf(project: string): Record<string, string> {
  try {
    const { scripts } = JSON.parse(textOf(project, "package.json").replace(/^\uFEFF/, ""));
    const entries = Object.entries<unknown>(typeof scripts === "object" && scripts !== null ? scripts : {});
    return Object.fromEntries(
      entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"),
    );
  } catch {
    return {};
  }
}

function makefileOf(project: string): string {
  const names = ["GNUmakefile", "makefile", "Makefile"];
  return names.map((name) => textOf(project, name)).find((text) => text !== "") ?? "";
}

/** Empty when it is not there. */
export function textOf(project: string, name: string): string {
  return textAt(join(project, name)) ?? "";
}

const RUNNERS = [
  "(?:vitest|jest|mocha|pytest|py\\.test|rspec|phpunit|ctest|bats)(?:\\.[cm]?js)?",
  "(?:node|tsx)\\s(?:.*\\s)?--test",
  "python[\\d.]*\\s(?:.*\\s)?-m\\s+(?:unittest|pytest)",
  "cargo\\s(?:.*\\s)?(?:t|test|nextest)",
  "(?:gotestsum|prove)",
  "python[\\d.]*\\s(?:.*\\s)?(?:\\S*/)?(?:test_\\S+|\\S+_test)\\.py",
  "(?:\\S*/)?manage\\.py\\s+test",
  "(?:go|deno|dotnet|swift|mix|playwright)\\s(?:.*\\s)?test",
];

/** Runners whose output tells how many tests have passed. */
const KNOWN = command([...RUNNERS, "gradlew?", "mvnw?"]);

/** Commands that are about tests: those, and what calls them. A build is none, also where it could run tests. */
const ABOUT_TESTS = command([
  ...RUNNERS,
  "(?:ava|jasmine|tox|nox|tap|karma)",
  "(?:gradlew?|mvnw?|turbo|nx|lerna|bun|rake|rails|artisan|bazel|sbt|lein|dart|flutter|zig|just|composer|make)\\s(?:.*[\\s:])?[\\w-]*(?:[tT]ests?|verify|check)",
]);

function command(patterns: string[]): RegExp {
  return new RegExp(`(?:^|[\\s;&|(@/"'])(?:${patterns.join("|")})(?=$|[\\s;&|)"':])`, "m");
}

/** Scripts call scripts, but not for ever. */
const MAX_DEPTH = 4;

/** Whether it is a runner whose output we can read, also behind `npm test` and `make test`. */
export function isKnownRunner(text: string, project: string): boolean {
  // A script that cannot be read has to prove itself.
  return leadsTo(text, project, (one, isLast) => KNOWN.test(one) || (isLast && NPM.test(one)));
}

const NPM = /\b(?:npm|pnpm|yarn)\b/;
const NPM_TEST = /\b(?:npm|pnpm|yarn)\s(?:.*\s)?(?:t|tst|test\S*)(?=$|[\s;&|)"'])/m;

/** Whether it is there to run tests, also behind a script: one that says that it ran none proves nothing. */
export function isAboutTests(text: string, project: string): boolean {
  return leadsTo(text, project, (one, isLast) => {
    if (ABOUT_TESTS.test(one) || (isLast && NPM_TEST.test(one))) return true;
    const scripts = one.match(/[^\s;&|()"'@]+\.sh\b/g) ?? [];
    return scripts.some((file) => ABOUT_TESTS.test(textOf(project, file)));
  });
}

/** Asks about the command itself and about the scripts and rules that it calls, until one says yes. */
function leadsTo(
  text: string,
  project: string,
  isMeant: (text: string, isLast: boolean) => boolean,
  depth = MAX_DEPTH,
): boolean {
  const behind = depth === 0 ? [] : [...scriptsBehind(text, project), ...rulesBehind(text, project)];
  return (
    isMeant(text, behind.length === 0) || behind.some((one) => leadsTo(one, project, isMeant, depth - 1))
  );
}

function scriptsBehind(command: string, project: string): string[] {
  const scripts = scriptsOf(project);
  const calls = command.matchAll(/\b(?:npm|pnpm|yarn|bun)\s+(?:run(?:-script)?\s+)?([\w:.-]+)/g);
  return [...calls].flatMap(([, name = ""]) => scripts[/^(?:t|tst)$/.test(name) ? "test" : name] ?? []);
}

/** What the rules do that `make` is asked for, and those that they need. */
function rulesBehind(command: string, project: string): string[] {
  const rules = makefileOf(project).split(/\n(?=[^\s#])/);
  const targets = [...command.matchAll(/(?:\bmake|\$\(MAKE\))\s+([\w.-]+)/g)];
  return targets.flatMap(([, target = ""]) => {
    const rule = rules.find((text) => namesOf(text).includes(target));
    return rule === undefined ? [] : [asCommands(rule)];
  });
}

function namesOf(rule: string): string[] {
  return (/^([^:=#\n]+)::?(?![:=])/.exec(rule)?.[1] ?? "").trim().split(/\s+/);
}

function asCommands(rule: string): string {
  const [first = "", ...recipe] = rule.split("\n");
  const [needs = "", ...inline] = first.replace(/^[^:]*::?/, "").split(";");
  const needed = needs.split(/\s+/).filter((name) => /^[\w.-]+$/.test(name));
  return [...needed.map((name) => `make ${name}`), ...inline, ...recipe].join("\n");
}

/** Something that is installed and not committed. */
interface Missing {
  /** The folder that is missing, from the workspace on. */
  folder: string;
  /** The file that asks for it. */
  file: string;
  /** The command that makes it. */
  setup: string;
}

/** What a fresh checkout lacks, as far as the files of the project tell; `top`: where the checkout begins. */
export function missingDependencies(workspace: string, top: string, env: NodeJS.ProcessEnv): Missing[] {
  return dependenciesOf(workspace, top, env).flatMap(({ isThere, ...one }) => (isThere ? [] : [one]));
}

/** What a new worktree lacks, and how every new one would get it; undefined: nothing. */
export function setupHint(workspace: string, top: string, env: NodeJS.ProcessEnv): string | undefined {
  const missing = missingDependencies(workspace, top, env);
  if (missing.length === 0) return undefined;
  const folders = [...new Set(missing.map(({ folder, file }) => `${folder} (${file})`))].join(", ");
  const setup = [...new Set(missing.map((one) => one.setup))].join(" && ");
  return `the new worktree has no ${folders}, so checks may fail: ralph config set setup ${quoteWord(setup)} installs it in every new worktree`;
}

/** The command that installs what the project depends on; empty where its files name nothing. */
export function setupCommand(workspace: string): string {
  return [...new Set(dependenciesOf(workspace, workspace, {}).map(({ setup }) => setup))].join(" && ");
}

function dependenciesOf(workspace: string, top: string, env: NodeJS.ProcessEnv) {
  const has = (...names: string[]): boolean => names.some((name) => existsSync(join(workspace, name)));
  const isActive = Boolean(env["VIRTUAL_ENV"] || env["CONDA_PREFIX"]);
  const modules = isAbove("node_modules", workspace, top) || has(".pnp.cjs");
  const python = has("requirements.txt") ? "requirements.txt" : "pyproject.toml";
  const submodule = "git submodule update --init --recursive";
  const rows: [isNeeded: boolean, isThere: boolean, folder: string, file: string, setup: string][] = [
    [needsModules(workspace), modules, "node_modules", "package.json", commandOf(MODULES, has)],
    [needsPython(workspace), has(".venv", "venv") || isActive, ".venv", python, commandOf(PYTHON, has)],
    [has("composer.json"), has("vendor"), "vendor", "composer.json", "composer install"],
    [has("mix.exs"), has("deps"), "deps", "mix.exs", "mix deps.get"],
    ...submodules(top).map((folder): (typeof rows)[number] => {
      return [true, !isEmpty(join(top, folder)), folder, ".gitmodules", submodule];
    }),
  ];
  return rows.flatMap(([isNeeded, isThere, folder, file, setup]) => {
    return isNeeded ? [{ isThere, folder, file, setup }] : [];
  });
}

/** By the file that tells which program installs; the last one where none of them is there. */
const MODULES: [file: string, setup: string][] = [
  ["pnpm-lock.yaml", "pnpm install --frozen-lockfile"],
  ["yarn.lock", "yarn install"],
  ["bun.lock", "bun install"],
  ["bun.lockb", "bun install"],
  ["package-lock.json", "npm ci"],
  ["", "npm install"],
];

const PYTHON: [file: string, setup: string][] = [
  ["uv.lock", "uv sync"],
  ["poetry.lock", "poetry install"],
  ["pdm.lock", "pdm install"],
  ["requirements.txt", "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt"],
  ["", "python3 -m venv .venv && .venv/bin/pip install -e ."],
];

function commandOf(rows: [file: string, setup: string][], has: (name: string) => boolean): string {
  return rows.find(([file]) => file === "" || has(file))?.[1] ?? "";
}

function needsModules(workspace: string): boolean {
  const { dependencies, devDependencies } =
    orElse(() => JSON.parse(textOf(workspace, "package.json")), {}) ?? {};
  return Object.keys({ ...dependencies, ...devDependencies }).length > 0;
}

function needsPython(workspace: string): boolean {
  const asks =
    /^dependencies\s*=\s*\[\s*["']|^\[(?:tool\.poetry\.(?:group\.\w+\.)?|project\.optional-|dependency-groups)/m;
  return (
    /^\s*[\w-]/m.test(textOf(workspace, "requirements.txt")) || asks.test(textOf(workspace, "pyproject.toml"))
  );
}

/** A package of a monorepo uses what is installed above it. */
function isAbove(name: string, folder: string, top: string): boolean {
  if (existsSync(join(folder, name))) return true;
  return folder !== top && folder !== dirname(folder) && isAbove(name, dirname(folder), top);
}

function submodules(top: string): string[] {
  return [...textOf(top, ".gitmodules").matchAll(/^\s*path\s*=\s*(.+?)\s*$/gm)].map(([, path]) => path ?? "");
}

function isEmpty(folder: string): boolean {
  return orElse(() => readdirSync(folder).length === 0, true);
}
