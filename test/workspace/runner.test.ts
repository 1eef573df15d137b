import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { isKnownRunner } from "../../src/workspace/project.js";
import { temporaryFolder } from "../kit.js";

const npm = (test: string): Record<string, string> => ({
  "package.json": JSON.stringify({ scripts: { test, unit: "vitest run", own: "sh check.sh" } }),
});
const make = (text: string): Record<string, string> => ({ Makefile: text });

it.each<[boolean, string, Record<string, string>]>([
  [true, "pytest tests/ -v", {}],
  [true, "cargo +nightly test --workspace", {}],
  [true, "go test ./...", {}],
  [true, "npx vitest run", {}],
  [true, "./node_modules/.bin/jest", {}],
  [true, "node --import tsx --test", {}],
  [true, "npm test", npm("vitest run --coverage")],
  [true, "npm test", npm("npm run unit")],
  [true, "npm run unit", npm("")],
  [true, "pnpm test", { "package.json": "{" }],
  [true, "make test", make("all:\n\tcc a.c\ntest: all\n\t@pytest -q\n")],
  [true, "make test", { ...make("test: ; npm test\n"), ...npm("jest") }],
  [false, "make test", make("test:\n\t@echo All good\n")],
  [false, "make test", make("bench:\n\tpytest\ntest:\n\t./check.sh\n")],
  [false, "make test", {}],
  [false, "npm test", npm("sh check.sh")],
  [false, "npm test", npm("npm run own")],
  [false, "./pytest.sh", {}],
])("that a runner is known is %s of %j in %j", (expected, command, files) => {
  const project = temporaryFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text);
  expect(isKnownRunner(command, project)).toBe(expected);
});
