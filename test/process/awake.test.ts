import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createProject, eventually, isAlive, type Project } from "../kit.js";

/** Says how it was called, and does as the real one does. */
const HELPER = '#!/bin/sh\necho $$ "$@" > "$HOME/helper"\nfor last; do :; done\nexec "$last"\n';

function project(): Project {
  const p = createProject();
  p.settings({ agent: { command: "claude" } });
  p.agent([{ sleepMs: 60_000 }]);
  p.program("systemd-inhibit", HELPER);
  return p;
}

async function helperOf(p: Project): Promise<[pid: number, called: string]> {
  const file = join(p.home, "helper");
  await eventually(() => existsSync(file) && readFileSync(file, "utf8").endsWith("\n"));
  const [pid = "", ...words] = readFileSync(file, "utf8").trim().split(" ");
  return [Number(pid), words.join(" ")];
}

describe("a machine with a loop at work", () => {
  it.each(["SIGKILL", "SIGINT"] as const)("is kept awake until ralph ends, also by %s", async (signal) => {
    const p = project();
    const run = p.start(["run", "-p", "a", "-V"]);
    const [pid, called] = await helperOf(p);
    expect(called).toBe("--what=idle:sleep --who=ralph --why=a loop is running cat");
    await run.until((output) => output.includes("[ralph] Keeping the machine awake with systemd-inhibit"));
    expect(isAlive(pid)).toBe(true);
    run.child.kill(signal);
    if (signal === "SIGINT") {
      await run.until((output) => output.includes("Received signal"));
      expect(isAlive(pid)).toBe(true);
      run.child.kill(signal);
    }
    await run.result;
    await eventually(() => !isAlive(pid));
  });

  it("may fall asleep with --no-inhibit, and where there is no helper, which is said to those who ask", async () => {
    const p = project();
    p.agent([{ text: "<response>DONE</response>" }]);
    expect((await p.ralph("run", "-p", "a", "--no-inhibit", "-V")).stderr).not.toContain("awake");
    expect(existsSync(join(p.home, "helper"))).toBe(false);
    p.program("systemd-inhibit", "#!/bin/sh\necho 'Failed to connect to bus' >&2\nexit 1\n");
    p.agent([{ text: "<response>DONE</response>", sleepMs: 3000 }]);
    const { code, stderr } = await p.ralph("run", "-p", "a", "-V");
    expect(code).toBe(0);
    expect(stderr).toContain("[ralph] The machine may fall asleep: Failed to connect to bus");
    expect((await p.ralph("run", "-p", "a")).stderr).not.toContain("asleep");
  });
});
