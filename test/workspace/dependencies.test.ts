import { describe, expect, it } from "vitest";
import { missingDependencies } from "../../src/workspace/project.js";
import { createProject } from "../kit.js";

function lacks(files: Record<string, string>, env: NodeJS.ProcessEnv = {}, at = "."): string[] {
  const p = createProject({ git: false });
  for (const [name, text] of Object.entries(files)) p.write(name, text);
  const workspace = at === "." ? p.dir : `${p.dir}/${at}`;
  return missingDependencies(workspace, p.dir, env).map(({ folder, setup }) => `${folder}: ${setup}`);
}

const PACKAGE = '{"devDependencies":{"vitest":"4"}}';
const PIP = "python3 -m venv .venv && .venv/bin/pip install";

describe("what a fresh checkout lacks", () => {
  it.each([
    [["node_modules: npm install"], { "package.json": PACKAGE }],
    [["node_modules: npm ci"], { "package.json": PACKAGE, "package-lock.json": "{}" }],
    [["node_modules: pnpm install --frozen-lockfile"], { "package.json": PACKAGE, "pnpm-lock.yaml": "" }],
    [[`.venv: ${PIP} -r requirements.txt`], { "requirements.txt": "flask\n" }],
    [[`.venv: ${PIP} -e .`], { "pyproject.toml": '[project]\ndependencies = ["flask"]\n' }],
    [[".venv: uv sync"], { "pyproject.toml": '[project]\ndependencies = [\n  "a"]\n', "uv.lock": "" }],
    [["vendor: composer install"], { "composer.json": "{}" }],
    [["lib/x: git submodule update --init --recursive"], { ".gitmodules": "[submodule]\n\tpath = lib/x\n" }],
    [
      ["node_modules: npm install", `.venv: ${PIP} -r requirements.txt`],
      { "package.json": PACKAGE, "requirements.txt": "flask" },
    ],
  ])("is %j", (expected, files) => {
    expect(lacks(files as Record<string, string>)).toEqual(expected);
  });

  it.each([
    [
      "nothing to install",
      { "package.json": '{"scripts":{"test":"node --test"}}', "pyproject.toml": "[tool.ruff]" },
    ],
    [
      "what is there",
      { "package.json": PACKAGE, "node_modules/x": "", "requirements.txt": "a", ".venv/x": "" },
    ],
    ["comments alone", { "requirements.txt": "# none\n" }],
  ])("is nothing for %s", (_, files) => {
    expect(lacks(files)).toEqual([]);
  });

  it("is nothing that an environment or a folder above has", () => {
    expect(lacks({ "requirements.txt": "flask" }, { VIRTUAL_ENV: "/env" })).toEqual([]);
    const files = { "packages/a/package.json": PACKAGE, "node_modules/x": "" };
    expect(lacks(files, {}, "packages/a")).toEqual([]);
    expect(lacks({ "packages/a/package.json": PACKAGE }, {}, "packages/a")).toHaveLength(1);
  });
});
