import { describe, expect, it } from "vitest";
import { createWorkers } from "./kit.js";

const DONE = { text: "<response>DONE</response>" };

describe("ralph spawn … -- AGENT, with a known agent", () => {
  it("runs the project's checks, tells the agent what failed, and ends when it is done", async () => {
    const p = createWorkers();
    p.settings({ checks: ["echo no such file; test -f ok"] });
    p.agent([DONE, { ...DONE, bash: "touch ok" }, { text: "never asked" }]);
    expect(await p.spawn(["claude"], "-n", "9")).toMatchObject({ code: 0 });
    await p.ended();
    expect((await p.ralph("wait", "w")).code).toBe(0);
    expect([p.calls(), p.state().status, p.state().current_iteration]).toEqual([2, "stopped", 2]);
    expect(p.prompt(1)).toMatch(/^do the thing\n\nOnly if the whole task is done and the checks pass, /);
    expect(p.prompt(2)).toContain("no such file");
    expect(p.output()).toContain("Check: echo no such file; test -f ok\n");
    expect(p.output()).toContain("✅ Completed");
  });

  it("believes the agent where there is no check, and says so", async () => {
    const p = createWorkers();
    p.agent([DONE]);
    const { stderr } = await p.spawn(["claude"]);
    expect(stderr).toContain("no check: the agent alone decides when it is done");
    await p.ended();
    expect([p.calls(), p.state().status]).toEqual([1, "stopped"]);
  });

  it("refuses checks for a command that nothing verifies", async () => {
    const p = createWorkers();
    expect(await p.spawn(["cat"], "--check", "true")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--check is for known agents") as string,
    });
    expect(p.exists()).toBe(false);
  });
});
