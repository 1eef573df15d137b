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
  const has = (...names: string[]): boolean => names.some((name) => existsSync(join(workspace, name)));
  const text = (name: string): string => textOf(workspace, name);
  const scripts = scriptsOf(workspace);
  const runner = RUNNERS.find(([lock]) => has(lock))?.[1] ?? "npm";
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

const RUNNERS: [lock: string, program: string][] = [
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
export function scriptsOf(project: string): Record<string, string> {
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

export function makefileOf(project: string): string {
  const names = ["GNUmakefile", "makefile", "Makefile"];
  return names.map((name) => textOf(project, name)).find((text) => text !== "") ?? "";
}

/** Empty when it is not there. */
export function textOf(project: string, name: string): string {
  return textAt(join(project, name)) ?? "";
}
