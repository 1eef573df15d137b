import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { textAt } from "./content.js";

/** A command of the project itself that can judge the work. */
export interface ProjectCommand {
  command: string;
  purpose: "test" | "lint";
}

/** The project's own test and lint commands, as far as its files tell. */
export function projectCommands(workspace: string): ProjectCommand[] {
  return [nodeCommands, pythonCommands, rustCommands, goCommands, makeCommands].flatMap((find) =>
    find(workspace),
  );
}

/** The command that runs the project's tests, as far as its files tell. */
export function testCommand(workspace: string): string | undefined {
  const found = projectCommands(workspace).find(({ purpose }) => purpose === "test")?.command;
  if (found !== "pytest") return found;
  const isElsewhere = !existsSync(join(workspace, "tests")) && existsSync(join(workspace, "test"));
  return isElsewhere ? "pytest -v" : "pytest tests/ -v";
}

const test = (command: string): ProjectCommand => ({ command, purpose: "test" });
const lint = (command: string): ProjectCommand => ({ command, purpose: "lint" });

const RUNNERS: [lock: string, program: string][] = [
  ["pnpm-lock.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["bun.lock", "bun run"],
  ["bun.lockb", "bun run"],
];

function nodeCommands(workspace: string): ProjectCommand[] {
  const scripts = scriptsIn(read(workspace, "package.json"));
  const runner = RUNNERS.find(([lock]) => existsSync(join(workspace, lock)))?.[1] ?? "npm";
  // `npm init` writes a test that always fails.
  const hasTest = isCommand(scripts["test"]) && !/no test specified/.test(scripts["test"]);
  return [
    ...(hasTest ? [test(`${runner} test`)] : []),
    ...(isCommand(scripts["lint"]) ? [lint(runner === "npm" ? "npm run lint" : `${runner} lint`)] : []),
  ];
}

function scriptsIn(manifest: string): Record<string, unknown> {
  try {
    const { scripts } = JSON.parse(manifest.replace(/^\uFEFF/, "")) as { scripts?: unknown };
    return typeof scripts === "object" && scripts !== null ? (scripts as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function isCommand(script: unknown): script is string {
  return typeof script === "string" && script !== "";
}

function pythonCommands(workspace: string): ProjectCommand[] {
  const project = read(workspace, "pyproject.toml");
  const hasTests =
    existsSync(join(workspace, "pytest.ini")) ||
    existsSync(join(workspace, "conftest.py")) ||
    /^\[tool\.pytest\b|["']pytest\b|^pytest\s*=/m.test(project) ||
    REQUIREMENTS.some((name) => /^pytest\b/m.test(read(workspace, name))) ||
    /^\[(?:tool:)?pytest\]/m.test(read(workspace, "setup.cfg") + read(workspace, "tox.ini")) ||
    [".", "tests", "test"].some((folder) => hasPythonTests(join(workspace, folder), folder === "." ? 0 : 2));
  const usesRuff =
    ["ruff.toml", ".ruff.toml"].some((name) => existsSync(join(workspace, name))) ||
    /^\[tool\.ruff\b/m.test(project);
  return [...(hasTests ? [test("pytest")] : []), ...(usesRuff ? [lint("ruff check .")] : [])];
}

const REQUIREMENTS = [
  "requirements.txt",
  "requirements-dev.txt",
  "dev-requirements.txt",
  "requirements/dev.txt",
];

function hasPythonTests(folder: string, depth: number): boolean {
  const names = namesIn(folder);
  if (names.some((name) => /^test_.*\.py$|_test\.py$/.test(name))) return true;
  return (
    depth > 0 && names.some((name) => !name.includes(".") && hasPythonTests(join(folder, name), depth - 1))
  );
}

function rustCommands(workspace: string): ProjectCommand[] {
  if (!existsSync(join(workspace, "Cargo.toml"))) return [];
  return [test("cargo test"), lint("cargo clippy -- -D warnings")];
}

function goCommands(workspace: string): ProjectCommand[] {
  return existsSync(join(workspace, "go.mod")) ? [test("go test ./..."), lint("go vet ./...")] : [];
}

function makeCommands(workspace: string): ProjectCommand[] {
  const name = ["GNUmakefile", "makefile", "Makefile"].find((file) => existsSync(join(workspace, file)));
  const makefile = name === undefined ? "" : read(workspace, name);
  return [test("make test"), lint("make lint")].filter(({ purpose }) =>
    new RegExp(`^(?:[\\w.-]+ +)*${purpose}(?: +[\\w.-]+)*\\s*::?(?![:=])`, "m").test(makefile),
  );
}

/** Empty when it is not there: what cannot be read suggests nothing. */
function read(workspace: string, name: string): string {
  return textAt(join(workspace, name)) ?? "";
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
