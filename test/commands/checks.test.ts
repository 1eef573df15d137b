import { describe, expect, it } from "vitest";
import { type Project, projectWith, type Result } from "../kit.js";
import { story, tasks } from "../recipes/stories/samples.js";
import { APPROVE, IMPLEMENT, project as stories } from "./stories-kit.js";

const DONE = { text: "COMPLETE\n<response>DONE</response>" };

const commands = ({ events }: Result): string[] =>
  events.flatMap((event) => (event.type === "check.finished" ? [event.command] : []));

describe.each([
  ["run", ["run", "-p", "task"]],
  ["loop", ["loop", "task"]],
])("the project's checks in ralph %s", (_, words) => {
  it("count, whatever their form, and --check adds one", async () => {
    const p = projectWith(
      { checks: ["test -d .", { name: "a name", command: "true", timeout: "1m" }] },
      DONE,
    );
    const result = await p.ralph(...words, "--check", "test -e .", "--check", "true", "--json");
    expect([result.code, commands(result)]).toEqual([0, ["test -d .", "true", "test -e ."]]);
  });

  it("have an older name, and are left out with --no-project-checks", async () => {
    const p = projectWith({ guardrails: [{ command: "false" }] }, DONE);
    const flags = ["--no-project-checks", "--check", "true", "--json"];
    const result = await p.ralph(...words, ...flags);
    expect([result.code, commands(result)]).toEqual([0, ["true"]]);
    expect((await p.ralph(...words, "-n", "1", "--json")).code).toBe(1);
  });

  it("are ended after --check-timeout, unless they have a time limit of their own", async () => {
    const p = projectWith({ checks: ["sleep 60", { command: "sleep 0.1 && exit 3", timeout: "1m" }] }, DONE);
    const { events } = await p.ralph(...words, "--check-timeout", "1", "-n", "1", "--json");
    const ends = events.flatMap((event) => (event.type === "check.finished" ? [event] : []));
    expect(ends.map(({ timedOut, exitCode }) => [timedOut, exitCode])).toEqual([
      [true, null],
      [false, 3],
    ]);
  });

  it("are called by their names, and checks everywhere", async () => {
    const p = projectWith({ checks: [{ name: "unit tests", command: "false" }] }, DONE);
    const first = await p.ralph(...words, "-n", "1");
    expect(first.stdout).toContain("Check: unit tests (false)\n");
    const resumed = await p.ralph("resume", "-n", "2");
    const { stdout } = await p.ralph("report");
    expect(first.all + resumed.all + stdout).not.toMatch(/guardrail(?!_\d)/i);
    expect(resumed.all).toContain("Check: unit tests (false)\n");
  });
});

describe("the project's checks in ralph stories run", () => {
  const run = (p: Project, ...flags: string[]) => p.ralph("stories", "run", "--json", ...flags);

  it("count where tasks.json has none, and the agent is told", async () => {
    const p = stories(tasks(story("US-001")), true, { checks: ["test -e code.txt"] });
    p.agent([IMPLEMENT, APPROVE]);
    const result = await run(p, "--check", "test -d .");
    expect(result.code).toBe(0);
    expect(commands(result).slice(0, 2)).toEqual(["test -e code.txt", "test -d ."]);
    expect(p.prompt(1)).toContain("All of them must pass:\n- test -e code.txt\n- test -d .");
  });

  it("leave the floor to those of tasks.json", async () => {
    const list = { ...tasks(story("US-001")), verifyCommands: ["test -e code.txt"] };
    const p = stories(list, true, { checks: ["false"] });
    p.agent([IMPLEMENT, APPROVE]);
    const result = await run(p);
    expect([result.code, new Set(commands(result))]).toEqual([0, new Set(["test -e code.txt"])]);
  });

  it("keep a story from being approved", async () => {
    const p = stories(tasks(story("US-001")), true, { checks: ["false"] });
    p.agent([IMPLEMENT, APPROVE]);
    const { code, all } = await p.ralph("stories", "run", "-n", "2");
    expect(code).toBe(1);
    expect(all).toContain("checks failed: false (exit code 1)");
    expect(all).toContain("it cannot be approved while a check fails (false)");
  });
});

describe("limits of the settings", () => {
  it.each([
    ["run", ["run", "-p", "task", "--check", "false"], 2],
    ["loop", ["loop", "task", "--check", "false"], 2],
    ["loop, where its own section wins", ["loop", "task", "--check", "false"], 3],
  ])("count for ralph %s", async (_, words, iterations) => {
    const loop = iterations === 3 ? { loop: { max_iterations: 3, max_cost: null } } : {};
    const p = projectWith({ maxIterations: 2, maxCost: 40, maxTime: "2h", ...loop }, DONE);
    const { code, events } = await p.ralph(...words, "--json", "--stuck-after", "0");
    const [started] = events;
    expect([code, started]).toMatchObject([
      1,
      {
        type: "run.started",
        limits: { maxIterations: iterations, maxCostUsd: iterations === 3 ? null : 40, maxTimeMs: 7_200_000 },
      },
    ]);
  });

  it("come from the user's own file, too", async () => {
    const p = projectWith({}, DONE);
    await p.ralph("config", "set", "maxIterations", "1", "--user");
    const { finished } = await p.ralph("loop", "task", "--check", "false", "--json");
    expect([finished.reason, finished.iterations]).toEqual(["max_iterations", 1]);
  });

  it("are no reason to run a loop without a check", async () => {
    const { code, stderr } = await projectWith({ checks: ["true"] }, DONE).ralph(
      "loop",
      "t",
      "--no-project-checks",
    );
    expect([code, stderr]).toEqual([2, expect.stringContaining("no check was given")]);
  });
});
