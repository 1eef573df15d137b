import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createProject, type Project } from "../kit.js";

const BIN = join(import.meta.dirname, "../../bin/ralph.js");

/** What others could read, and how. */
const open = (p: Project): string =>
  p.sh(
    'find "$RALPH_HOME" \\( -type d ! -perm 700 -o -type f ! -perm 600 ! -perm 400 -o -type p ! -perm 600 \\) -printf "%m %p\\n"',
  );

function ralph(p: Project, ...args: string[]): void {
  const words = [process.execPath, BIN, ...args].map((word) => `'${word}'`).join(" ");
  execFileSync("bash", ["-c", `umask 000; ${words}`], { cwd: p.dir, env: p.env, stdio: "pipe" });
}

function project(): Project {
  const p = createProject();
  p.settings({
    agent: { command: "claude" },
    scm: { command: "git", tasks: ["commit"] },
    protect: ["kept"],
  });
  p.write("kept", "x");
  p.agent([{ bash: "date > new", text: "COMPLETE\n<response>DONE</response>" }], { commit: "Add it" });
  return p;
}

it.each([
  ["run", ["run", "-p", "x", "--check", "echo checked", "--worktree"]],
  ["loop", ["loop", "x", "--check", "echo checked", "--baseline"]],
])("all that ralph %s keeps is for its owner alone, whatever the umask", (_, args) => {
  const p = project();
  ralph(p, ...args);
  expect(open(p)).toBe("");
});

it("what an earlier release left open is closed when it is written to", () => {
  const p = project();
  p.agent([{ text: "not yet" }, { text: "<response>DONE</response>" }], { commit: "Add it" });
  const args = ["--check", "true", "--agent", "claude"];
  expect(() => ralph(p, "run", "-p", "x", "-n", "1", ...args)).toThrow();
  p.sh('chmod -R go+rX "$RALPH_HOME"');
  ralph(p, "resume", "-n", "2");
  expect(open(p)).toBe("");
});
