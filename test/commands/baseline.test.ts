import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { BaselineCheck, LoopEvent } from "../../src/events.js";
import { witnessOf } from "../../src/records/result.js";
import { claudeProject, eventually, type Project, type Step } from "../kit.js";
import { story, tasks } from "../recipes/stories/samples.js";

const CHECKS = ["echo no one; test -f one", "test -f two", "test -f three", "true"];
const FLAGS = CHECKS.flatMap((check) => ["--check", check]);

/** One fails and is mended, one passes and is broken, one fails and stays so, one passes. */
function project(...steps: Step[]): Project {
  const p = claudeProject(...steps);
  p.write("two", "");
  return p;
}

const WORK: Step = { bash: "touch one; rm two", text: "<response>DONE</response>" };

function standing(...now: boolean[]): BaselineCheck[] {
  const before = [false, true, false, true];
  return CHECKS.map((command, index) => {
    const both = { before: before[index] === true, now: now[index] === true };
    return { command, ...both, witness: witnessOf(both) };
  });
}

const AFTER = standing(true, false, false, true);
const TOLD = "These checks failed before this run began, and they must pass:";

function prompts(p: Project, call: number): string {
  return p.prompt(call).slice(p.prompt(call).indexOf(TOLD));
}

describe("--baseline", () => {
  it("tells the agent what failed before, and everybody what has become of it", async () => {
    const p = project(WORK, { text: "<response>DONE</response>" });
    const { code, stdout } = await p.ralph("run", "-p", "Do it.", "-n", "2", "--baseline", ...FLAGS);
    expect(code).toBe(1);
    expect(prompts(p, 1)).toBe(`${TOLD}\n- ${CHECKS[0]}\n  It said then:\n      no one\n- test -f three`);
    expect(prompts(p, 2)).toBe(
      `${TOLD}\n- test -f three\n\nThese checks passed before this run began; this run broke them:\n- test -f two`,
    );
    const shown = stdout.split("\n").map((line) => line.replace(/, \d+\.\ds/, ""));
    expect(shown).toContain("Check before the first iteration: test -f two");
    expect(shown).toContain("Baseline: 2 of 4 checks failed before: echo no one; test -f one, test -f three");
    expect(shown).toContain("✅ Passed (exit 0, fixed)");
    expect(stdout).toMatch(/Failed \(exit 1, [\d.]+s, broken by this run\) → APPEND/);
    expect(stdout).toMatch(/Failed \(exit 1, [\d.]+s, failed before\) → APPEND/);
    const words = `fixed: ${CHECKS[0]}; failed before: test -f three; broken by this run: test -f two`;
    expect(shown).toContain(`  baseline   ${words}`);
    const report = (await p.ralph("report")).stdout;
    expect(report).toContain(`  baseline   ${words}`);
    expect(report).toMatch(/test -f two +✗✗ +broken by this run\n/);
    const json = JSON.parse((await p.ralph("report", "--json")).stdout) as {
      baseline: unknown;
      iterations: unknown[];
    };
    expect([json.baseline, json.iterations.length]).toEqual([AFTER, 2]);
    expect((await p.ralph("report", "--markdown")).stdout).toContain(
      "| <code>test -f two</code> | ❌❌ | broken by this run |",
    );
    expect((await p.ralph("report", "--html", "-")).stdout).toContain("0 of 2 passed, broken by this run");
  });

  it("is in the journal, and survives kill -9 and resume", async () => {
    const p = project(WORK, { bash: "touch three", sleepMs: 60_000 }, { text: "COMPLETE" });
    const run = p.start(["loop", "Do it", "-n", "3", "--baseline", "--json", ...FLAGS]);
    await eventually(() => p.calls() === 2 && p.exists("three"));
    run.child.kill("SIGKILL");
    const { events } = await run.result;
    const baseline = (all: LoopEvent[]) =>
      all.flatMap((event) =>
        event.type === "baseline.finished" ? [event.checks] : "baseline" in event ? [event.baseline] : [],
      );
    const first = standing(false, true, false, true);
    const said = [{ ...first[0], output: "no one\n" }, first[1], { ...first[2], output: "" }, first[3]];
    expect(baseline(events)).toEqual([said, AFTER]);
    const resumed = await p.ralph("resume", "--json");
    const end = standing(true, false, true, true);
    expect(baseline(resumed.events)).toEqual([AFTER, end, end, end]);
    expect(resumed.events.filter((event) => "iteration" in event && event.iteration === 0)).toEqual([]);
    expect(prompts(p, 3)).toContain("this run broke them:\n- test -f two");
    expect(readFileSync(join(p.runFolder(), "progress.md"), "utf8")).toContain(
      "- test -f two (broken by this run): FAIL",
    );
  });

  it("runs the verify commands of stories, and says where there is nothing to run", async () => {
    const p = project({ text: "no" });
    p.write(
      "ralph/tasks.json",
      JSON.stringify({ ...tasks(story("US-001")), verifyCommands: ["test -f one"] }),
    );
    p.write("ralph/prompt.md", "Do it.");
    p.write(".gitignore", ".ralph-active\n");
    p.sh("git add -A && git commit -qm plan");
    const { finished } = await p.ralph("stories", "run", "--baseline", "--no-sandbox", "-n", "1", "--json");
    expect(finished.baseline).toEqual([
      { command: "test -f one", before: false, now: false, witness: "red→red" },
    ]);
    expect(p.prompt(1)).toContain(`${TOLD}\n- test -f one`);
    p.agent([{ text: "<response>DONE</response>" }]);
    const none = await p.ralph("run", "-p", "a", "--baseline", "--json", "--no-done-instruction");
    expect(none.stderr).toContain("ralph: warning: --baseline: no check to run\n");
    expect([none.code, none.finished.baseline, p.prompt(1)]).toEqual([0, undefined, "a"]);
  });

  it("runs the gates of a pipeline, and tells each state of its own gate alone", async () => {
    const p = project({ bash: "touch one; rm two", text: "made" }, { bash: "touch two", text: "again" });
    const states = [
      "  A: { command: test -f one }",
      "  B: { command: test -f two }",
      "  C: { command: 'false', passCondition: { exitCode: 1 } }",
      "  D: { command: echo x >> deployed, agent: never }",
      "  E: { command: ralph gate validate s.md; echo x >> deployed, agent: never }",
      "  F: { command: ralph gate validate s.md, agent: never, passCondition: { exitCode: 1 } }",
    ];
    p.write(".ralph/pipeline.yaml", ["states:", ...states].join("\n"));
    p.write("s.md", "A spec.\n");
    const { code, stdout } = await p.ralph("pipeline", "run", "s.md", "--baseline");
    expect({ code, calls: p.calls() }).toEqual({ code: 0, calls: 2 });
    const shown = stdout.split("\n").filter((line) => /before|Gate: /.test(line));
    expect(shown).toEqual([
      "Check before the first iteration: test -f one",
      "Check before the first iteration: test -f two",
      "Check before the first iteration: false",
      "Check before the first iteration: ralph gate validate s.md",
      "Baseline: 1 of 4 checks failed before: test -f one",
      "Gate: FAIL (failed before)",
      "Gate: PASS (fixed)",
      "Gate: FAIL (broken by this run)",
      "Gate: PASS",
      "Gate: PASS",
      "Gate: PASS",
      "Gate: PASS",
      "Gate: PASS",
    ]);
    expect(p.read("deployed")).toBe("x\nx\n");
    expect(prompts(p, 1)).toBe(`${TOLD}\n- test -f one`);
    expect(p.prompt(2)).not.toContain("test -f one");
    expect(p.prompt(2)).toContain("this run broke them:\n- test -f two");
    expect(stdout).toContain("  baseline   fixed: test -f one\n");
    expect((await p.ralph("report")).stdout).toMatch(/test -f one +✗✓······ +fixed\n/);
    const json = JSON.parse((await p.ralph("report", "--json")).stdout) as { baseline: unknown };
    expect(json.baseline).toMatchObject([
      { command: "test -f one", before: false, now: true },
      { command: "test -f two", before: true, now: true },
      { command: "false", before: true, now: true },
      { command: "ralph gate validate s.md", before: true, now: true },
    ]);
  });

  it("is run again when a signal came before it was known", async () => {
    const p = project({ text: "COMPLETE" });
    const args = ["loop", "a", "--baseline", "--json", "--check", "touch began; sleep 0.3; test -f two"];
    const run = p.start([...args, "--check", "true"]);
    await eventually(() => p.exists("began"));
    run.child.kill("SIGINT");
    expect((await run.result).finished).toMatchObject({ reason: "interrupted", iterations: 0 });
    expect(p.calls()).toBe(0);
    const { code, events } = await p.ralph("resume", "--json");
    expect([code, events.filter(({ type }) => type === "baseline.finished").length]).toEqual([0, 1]);
  });
});
