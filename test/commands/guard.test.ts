import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createProject, type Project } from "../kit.js";

const BIN = join(import.meta.dirname, "../../bin/ralph.js");

function ralph(p: Project, args: string[], input = "") {
  const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...args], {
    cwd: p.dir,
    env: p.env,
    input,
    encoding: "utf8",
  });
  return { code: status, stdout, stderr };
}

describe("ralph guard", () => {
  const p = createProject;

  it("exits 0 for what would run, and says so", () => {
    expect(ralph(p(), ["guard", "npm test", "--no-emoji"])).toEqual({
      code: 0,
      stdout: "[OK] The guard allows it.\n",
      stderr: "",
    });
  });

  it("exits 1 for what is refused, with the category, the reason and the command", () => {
    expect(ralph(p(), ["guard", "npm ci && git push -f", "--no-emoji"])).toEqual({
      code: 1,
      stdout: `[ERR] The guard refuses it.
  destructive git
    it overwrites what others have pushed
    in: git push -f
`,
      stderr: "",
    });
  });

  it("tells warnings apart, and lets them run", () => {
    expect(ralph(p(), ["guard", "git reset --hard", "--no-emoji"])).toEqual({
      code: 0,
      stdout: `[OK] The guard allows it.
  destructive git, a warning
    what is not committed is lost
    in: git reset --hard
`,
      stderr: "",
    });
  });

  it("takes the command from stdin and prints JSON", () => {
    const { code, stdout, stderr } = ralph(p(), ["guard", "-", "--json"], "sudo\\\n ls\n");
    expect({ code, stderr, json: JSON.parse(stdout) }).toEqual({
      code: 1,
      stderr: "",
      json: {
        v: 1,
        command: "sudo\\\n ls\n",
        allowed: false,
        refusals: [
          {
            category: "privileges",
            level: "refuse",
            reason: "sudo runs as another user",
            command: "sudo ls",
          },
        ],
        warnings: [],
      },
    });
  });

  it("obeys the exceptions of the project, and tells which lines it does not take", () => {
    const project = p();
    project.write("ralph/allowed-commands.txt", "npm publish\nls && rm x\n");
    expect(ralph(project, ["guard", "npm publish", "--no-emoji"])).toEqual({
      code: 0,
      stdout: "[OK] The guard allows it.\n",
      stderr: "ralph: ralph/allowed-commands.txt:2 is not taken: it is more than one command\n",
    });
  });
});
