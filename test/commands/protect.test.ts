import { describe, expect, it } from "vitest";
import type { LoopEvent } from "../../src/events.js";
import { createProject, eventually, type Project, type Step } from "../kit.js";

const CHEAT = "echo cheat > tests/a; git commit -qam cheat; echo new > tests/b";

function project(...steps: Step[]): Project {
  const p = createProject();
  p.settings({ agent: { command: "claude" }, protect: ["tests/**"] });
  p.write("tests/a", "good\n");
  p.sh("git add -A && git commit -qm tests");
  // What is restored is the user's own state.
  p.write("tests/a", "dirty\n");
  p.agent(steps);
  return p;
}

function violations(events: LoopEvent[]): unknown[] {
  return events.flatMap((event) => (event.type === "violation" ? [[event.iteration, event.file]] : []));
}

const BOTH = (iteration: number): unknown[] => [
  [iteration, "tests/a"],
  [iteration, "tests/b"],
];
const RULE = "Protected files: tests/**. Do not change, delete or add any of them: ralph undoes that.";

describe("protected files", () => {
  it("are restored before the checks run, told to the next prompt, and in the report", async () => {
    const p = project(
      { bash: CHEAT, text: "<response>DONE</response>" },
      { text: "<response>DONE</response>" },
    );
    const check =
      "cat tests/*; test $(cat .git/turn 2>/dev/null || echo 1) = 2 || { echo 2 > .git/turn; exit 1; }";
    const asked = ["run", "-p", "Do it.", "--no-done-instruction"];
    const { code, finished, events } = await p.ralph(...asked, "--check", check, "--json");
    expect({ code, finished, violations: violations(events) }).toMatchObject({
      code: 0,
      finished: { reason: "completed", iterations: 2 },
      violations: BOTH(1),
    });
    expect(events.find((event) => event.type === "check.finished")).toMatchObject({ output: "dirty\n" });
    expect(events.find((event) => event.type === "iteration.finished")).toMatchObject({
      passed: false,
      reason: "the agent changed protected files: tests/a, tests/b; claimed to be done, but checks failed",
    });
    expect(p.prompt(1)).toBe(`Do it.\n\n${RULE}`);
    expect(p.prompt(2)).toContain('Guardrail "cat tests/*');
    expect(p.prompt(2)).toContain(`${RULE}\nThe last iteration did so anyway.`);
    expect(p.prompt(2)).toContain(
      "- tests/a is protected, but it changed: ralph restored it, also in HEAD\n- tests/b is new",
    );
    expect(JSON.stringify(events.filter(({ type }) => type === "violation"))).toContain(
      "(ralph kept what was there as ",
    );
    expect([p.read("tests/a"), p.exists("tests/b")]).toEqual(["dirty\n", false]);
    expect((await p.ralph("report", finished.run)).stdout).toContain("in iteration 1: tests/a is protected");
  });

  it("that are changed three times in a row end the run; resume gives it another chance", async () => {
    const p = project({ bash: CHEAT, text: "no" });
    const { code, finished, events } = await p.ralph("loop", "Do it", "--check", "false", "--json");
    expect({ code, finished }).toMatchObject({ code: 1, finished: { reason: "violation", iterations: 3 } });
    expect(violations(events)).toEqual([1, 2, 3].flatMap(BOTH));
    p.agent([{ text: "COMPLETE" }]);
    const resumed = await p.ralph("resume", finished.run, "--json", "-n", "4");
    expect(resumed.finished).toMatchObject({ reason: "max_iterations", iterations: 4 });
    expect(p.prompt(1)).toContain("## Failed checks");
  });

  it("are restored when the agent is ended by force, and the user's own edit stays before it continues", async () => {
    const p = project({ bash: `${CHEAT}; touch ready; sleep 60` }, { text: "<response>DONE</response>" });
    const run = p.start(["run", "-p", "a", "--json"]);
    await eventually(() => p.exists("ready"));
    run.child.kill("SIGINT");
    await run.until((output) => output.includes("second signal"));
    run.child.kill("SIGINT");
    const { code, events, finished } = await run.result;
    expect({ code, violations: violations(events) }).toEqual({ code: 130, violations: BOTH(1) });
    expect([p.read("tests/a"), p.exists("tests/b")]).toEqual(["dirty\n", false]);
    p.write("tests/a", "mine\n");
    const resumed = await p.ralph("resume", finished.run, "--json");
    expect({ code: resumed.code, violations: violations(resumed.events) }).toEqual({
      code: 0,
      violations: [],
    });
    expect(p.read("tests/a")).toBe("mine\n");
  });

  it("that nobody finds are a warning", async () => {
    const p = project({ text: "<response>DONE</response>" });
    p.settings({ agent: { command: "claude" }, protect: ["test/**", "tests"] });
    const { code, stderr } = await p.ralph("run", "-p", "a");
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stderr).toContain("ralph: warning: protect: no file matches test/** yet\n");
    expect(stderr).not.toContain("no file matches tests");
  });
});
