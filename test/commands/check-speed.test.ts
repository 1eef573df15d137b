import { describe, expect, it } from "vitest";
import type { LoopEvent } from "../../src/events.js";
import { type Project, projectWith, type Step } from "../kit.js";

function project(settings: object, ...steps: Step[]): Project {
  const p = projectWith(settings, ...steps);
  p.write("src/a", "1");
  return p;
}

function ended(events: LoopEvent[]): string[] {
  return events.flatMap((event) =>
    event.type === "check.finished"
      ? [`${event.iteration} ${event.command} ${event.skipped ?? event.exitCode}`]
      : [],
  );
}

describe("checks that are made quicker", () => {
  it("run side by side, and the next prompt and the report have them in their order", async () => {
    const p = project({ checks: { parallel: true } }, { text: "no" }, { text: "<response>DONE</response>" });
    // Each waits for the other: alone, neither would end.
    const meet = (own: string, other: string): string =>
      `touch ${own}; until test -f ${other}; do sleep 0.01; done; test -f done`;
    const checks = [meet("x", "y"), meet("y", "x")];
    p.agent([{ text: "no" }, { bash: "touch done", text: "<response>DONE</response>" }]);
    const args = ["run", "-p", "BASE", "--json", ...checks.flatMap((check) => ["--check", `${check} `])];
    const { code, finished } = await p.ralph(...args);
    expect({ code, iterations: finished.iterations }).toEqual({ code: 0, iterations: 2 });
    const named = [...p.prompt(2).matchAll(/^Guardrail "touch (.)/gm)].map(([, name]) => name);
    expect(named).toEqual(["x", "y"]);
    const report = JSON.parse((await p.ralph("report", "--json")).stdout) as {
      iterations: { checks: { place: number }[] }[];
    };
    expect(report.iterations.map((one) => one.checks.map(({ place }) => place))).toEqual([
      [1, 2],
      [1, 2],
    ]);
  });

  it.each([
    ["run", ["run", "-p", "a", "--check", "true"]],
    ["loop", ["loop", "a", "--check", "true"]],
  ])("ralph %s warns of inputs for a command that is no check", async (_, args) => {
    const inputs = { truee: ["src/**"], true: ["src/**"] };
    const p = project({ checks: { inputs } }, { text: "<response>DONE</response>\nCOMPLETE" });
    const { stderr } = await p.ralph(...args);
    expect(stderr.split("\n").filter((line) => line.includes("checkOptions.inputs"))).toEqual([
      'ralph: warning: checkOptions.inputs: "truee" is not a check of this run; did you mean "true"?',
    ]);
  });

  it("are skipped while their inputs are unchanged, which is told, and survives resume", async () => {
    const guardrails = [{ command: "test -f src/a", inputs: ["src/**"] }, { command: "test -f b" }];
    const p = project(
      { guardrails },
      { text: "no" },
      { bash: "echo 2 > src/a; touch b", text: "no" },
      {
        text: "<response>DONE</response>",
      },
    );
    const first = await p.ralph("run", "-p", "a", "-n", "1", "--json");
    const second = await p.ralph("resume", first.finished.run, "-n", "3", "--json");
    expect(second.code).toBe(0);
    expect([...ended(first.events), ...ended(second.events)]).toEqual([
      "1 test -f src/a 0",
      "1 test -f b 1",
      "2 test -f src/a 0",
      "2 test -f b 0",
      "3 test -f src/a unchanged",
      "3 test -f b 0",
    ]);
    const { stdout } = await p.ralph("report", first.finished.run);
    expect(stdout).toContain("  test -f src/a  ✓✓=\n");
    expect(stdout).toContain("  = skipped, its inputs are unchanged since it passed\n");
    expect((await p.ralph("report", "--html", "-")).stdout).toContain(
      "skipped, its inputs are unchanged since it passed",
    );
  });
});
