import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { splitWords } from "../../src/words.js";
import { createProject, type Project } from "../kit.js";
import { mount } from "../mount.js";

const DONE = { text: "<response>DONE</response>" };
const isRoot = process.getuid?.() === 0;

function project(): Project {
  const p = createProject();
  p.agent([{ text: "x" }, DONE]);
  return p;
}

describe.runIf(isRoot)("disks that do not take what is written", () => {
  it("a read-only project folder is told before anything starts", async () => {
    const p = project();
    const cwd = mount(join(p.root, "read-only"), "size=1m,ro");
    const { code, stderr } = await p.ralphWith(
      { cwd },
      "run",
      "-p",
      "<response>",
      "--check",
      "true",
      "--agent",
      "claude",
    );
    expect({ code, calls: p.calls() }).toEqual({ code: 2, calls: 0 });
    expect(stderr).toBe(
      `ralph: error: the project folder is read-only: ${cwd} (make it writable, or run ralph in another checkout)\n`,
    );
  });

  it("a full disk under a check's log is a warning: the check decides by its exit code", async () => {
    const p = project();
    const cwd = mount(join(p.root, "small"), "size=64k");
    const noisy = "head -c 1000000 /dev/zero | tr '\\0' x";
    const asked = ["run", "-p", "a", "--agent", "claude", "--check", noisy, "--json"];
    const { code, events } = await p.ralphWith({ cwd }, ...asked);
    expect({ code, calls: p.calls() }).toEqual({ code: 0, calls: 2 });
    expect(events.find(({ type }) => type === "check.finished")).toMatchObject({
      passed: true,
      logError: "no space left on the disk",
    });
  });

  it("a full disk under the records ends the run with a reason, and it goes on when there is room", async () => {
    const p = project();
    const home = mount(join(p.root, "records"), "size=256k");
    p.program(
      "loud",
      "#!/bin/bash\ncat >/dev/null\nhead -c 2000000 /dev/zero | tr '\\0' x | fold -w 90\necho '<response>DONE</response>'\n",
    );
    const env = { RALPH_HOME: home };
    const { code, finished } = await p.ralphWith({ env }, "run", "-p", "a", "--agent", "loud", "--json");
    expect({ code, finished }).toMatchObject({ code: 1, finished: { reason: "error", exitCode: 1 } });
    expect(finished.message).toMatch(
      /^cannot write the journal \S+: no space left on the disk; free some space, then continue with: ralph resume/,
    );
    execFileSync("mount", ["-o", "remount,size=64m", home]);
    expect((await p.ralphWith({ env }, "resume")).code).toBe(0);
  });

  it("no room for the first record is told before anything starts", async () => {
    const p = project();
    const home = mount(join(p.root, "records"), "size=64k");
    p.sh(`head -c 100000 /dev/zero > ${home}/ballast 2>/dev/null || true`);
    const { code, stderr } = await p.ralphWith(
      { env: { RALPH_HOME: home } },
      ...splitWords("run -p a --check true --agent claude"),
    );
    expect({ code, calls: p.calls(), lines: stderr.trimEnd().split("\n").length }).toEqual({
      code: 2,
      calls: 0,
      lines: 1,
    });
    expect(stderr).toContain("no space left on the disk");
  });
});
