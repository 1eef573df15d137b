import { spawnSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { leftOutSuites, ROOT_ONLY } from "../scripts/test-needs.mjs";
import { temporaryFolder } from "./kit.js";

const SCRIPT = join(import.meta.dirname, "../scripts/prepare-tests.mjs");

/** A PATH that holds these programs and no others. */
function pathWith(...programs: string[]): string {
  const folder = temporaryFolder();
  for (const name of programs) {
    const found = spawnSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).stdout.trim();
    symlinkSync(found || process.execPath, join(folder, name));
  }
  return folder;
}

const SANDBOX = ["bwrap", "socat", "rg", "curl"];
const ALL = [
  "git",
  "ps",
  "setpriv",
  "script",
  "tmux",
  ...SANDBOX,
  "redis-server",
  "bash",
  "zsh",
  "fish",
  "chromium",
];
const without = (name: string) => pathWith(...ALL.filter((program) => program !== name));

/** A file that is there, in the place of the package that is no program. */
const HERE = { BASH_COMPLETION: SCRIPT, POSTGRES_INITDB: SCRIPT };
const NOT_ROOT = process.getuid?.() === 0 ? "" : `tests: not root; left out: ${ROOT_ONLY.join(", ")}\n`;

function prepare(env: NodeJS.ProcessEnv) {
  const more = { env: { ...HERE, ...env }, encoding: "utf8" as const };
  const { status, stderr } = spawnSync(process.execPath, [SCRIPT], more);
  return { status, stderr: stderr.replace(NOT_ROOT, "") };
}

describe("what the tests need", () => {
  it("leaves out the suites of a missing program, by name", () => {
    expect(leftOutSuites({ ...HERE, PATH: without("tmux") })).toEqual([
      "test/docs.test.ts",
      "test/terminal/**",
      "test/workers/**",
    ]);
    expect(leftOutSuites({ ...HERE, PATH: without("zsh") })).toEqual(["test/shells/zsh.test.ts"]);
    const gone = { ...HERE, PATH: pathWith(...ALL), BASH_COMPLETION: "/nowhere" };
    expect(leftOutSuites(gone)).toEqual(["test/shells/bash-completion.test.ts"]);
  });

  it("is a failure in CI", () => {
    const { status, stderr } = prepare({ PATH: without("tmux"), CI: "true" });
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr:
        "tests: tmux is missing; left out: test/docs.test.ts, test/terminal/**, test/workers/**\ntests: with CI set, that is a failure\n",
    });
    expect(() => leftOutSuites({ ...HERE, PATH: without("tmux"), CI: "true" })).toThrow(
      "the tests need tmux",
    );
  });
});
