import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { orElse } from "../errors.js";
import { quoteWord } from "../words.js";
import { textOf } from "./project.js";

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
