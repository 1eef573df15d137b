import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createProject } from "../kit.js";

const BIN = join(import.meta.dirname, "../../bin/ralph.js");

it("a terminal that says that it is 0 wide is 80 wide", () => {
  const p = createProject();
  p.settings({ agent: { command: `claude ${"x".repeat(200)}` } });
  const shown = (columns: number): string =>
    execFileSync(
      "script",
      ["-qec", `stty cols ${columns}; exec '${process.execPath}' '${BIN}' config`, "/dev/null"],
      {
        cwd: p.dir,
        env: p.env,
        encoding: "utf8",
      },
    );
  expect(shown(0)).toBe(shown(80));
  expect(shown(0)).not.toBe(shown(120));
});
