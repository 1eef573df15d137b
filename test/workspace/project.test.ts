import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectCommands } from "../../src/workspace/project.js";
import { temporaryFolder } from "../kit.js";

const SCRIPTS = '{"scripts":{"test":"x","lint":"y"}}';

function commands(files: Record<string, string>): string[] {
  const folder = temporaryFolder();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return projectCommands(folder).map(({ command }) => command);
}

describe("the commands of a project", () => {
  it.each<[string, Record<string, string>, string[]]>([
    ["nothing", {}, []],
    ["npm", { "package.json": SCRIPTS }, ["npm test", "npm run lint"]],
    ["pnpm", { "package.json": SCRIPTS, "pnpm-lock.yaml": "" }, ["pnpm test", "pnpm lint"]],
    [
      "the test that npm init writes",
      { "package.json": '{"scripts":{"test":"echo \\"Error: no test specified\\" && exit 1"}}' },
      [],
    ],
    [
      "pytest by its settings",
      { "pyproject.toml": "[tool.pytest.ini_options]\n[tool.ruff]\n" },
      ["pytest", "ruff check ."],
    ],
    ["pytest as a dependency", { "pyproject.toml": 'dev = ["pytest>=8"]\n' }, ["pytest"]],
    [
      "a package.json with a mark before it",
      { "package.json": `\uFEFF${SCRIPTS}` },
      ["npm test", "npm run lint"],
    ],
    ["cargo", { "Cargo.toml": "" }, ["cargo test", "cargo clippy -- -D warnings"]],
    ["go", { "go.mod": "" }, ["go test ./...", "go vet ./..."]],
    ["make", { Makefile: "all:\n\ntest: all\n\tx\nlint:\n\ty\n" }, ["make test", "make lint"]],
    [
      "several at once",
      { "go.mod": "", "package.json": SCRIPTS },
      ["npm test", "npm run lint", "go test ./...", "go vet ./..."],
    ],
  ])("%s", (_, files, expected) => {
    expect(commands(files)).toEqual(expected);
  });
});
