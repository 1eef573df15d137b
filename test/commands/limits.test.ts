import { describe, expect, it } from "vitest";
import { splitWords } from "../../src/words.js";
import { claudeProject, createProject, isAlive, type Step } from "../kit.js";

const DONE: Step = { text: "<response>DONE</response>" };

const result = (cost: number) => ({ type: "result", subtype: "success", result: "x", total_cost_usd: cost });
const spoke = (input: number) => ({
  type: "assistant",
  message: { id: `m${input}`, content: [{ type: "text", text: "x" }], usage: { input_tokens: input } },
});

describe("limits", () => {
  it.each([
    ["cost", ["--max-cost", "1"], { raw: [result(5)], sleepMs: 60_000 }, "budget_exhausted"],
    [
      "tokens",
      ["--max-tokens", "1000"],
      { raw: [spoke(700), spoke(701)], sleepMs: 60_000 },
      "budget_exhausted",
    ],
    ["time", ["--max-time", "1s"], { sleepMs: 60_000 }, "timeout"],
  ] as [string, string[], Step, string][])(
    "cuts the agent off when the %s is passed while it runs",
    async (_, flags, step, reason) => {
      const p = claudeProject({ ...step, onlyRaw: true });
      const { code, finished, events } = await p.ralph("run", "-p", "a", ...flags, "--json");
      expect({ code, finished }).toMatchObject({ code: 1, finished: { reason, iterations: 1 } });
      expect(events.find(({ type }) => type === "agent.finished")).toMatchObject({ stopped: reason });
    },
  );

  it("charges a call that is ended before its result at the dearest price of the run, and says that it is an estimate", async () => {
    const p = claudeProject(
      { text: "x", cost: 0.11 },
      { text: "x", cost: 0.01 },
      { onlyRaw: true, raw: [spoke(500)], sleepMs: 60_000 },
    );
    const { all } = await p.ralph("run", "-p", "a", "--iteration-timeout", "2s", "--max-cost", "0.6");
    expect(all).toContain("$0.62 (estimated)");
    const report = JSON.parse((await p.ralph("report", "--json")).stdout) as Record<string, unknown>;
    expect(report).toMatchObject({ reason: "budget_exhausted", costUsd: 0.62, costEstimated: true });
    expect(report).toMatchObject({ iterations: [{}, {}, { costUsd: 0.5, costEstimated: true }] });
  });

  it("charges all that it was allowed where no price is known", async () => {
    const p = claudeProject({ onlyRaw: true, raw: [spoke(500)], sleepMs: 60_000 });
    const flags = ["--iteration-timeout", "1s", "--max-cost", "0.75", "--json"];
    const { finished } = await p.ralph("run", "-p", "a", ...flags);
    expect(finished).toMatchObject({ reason: "budget_exhausted", costUsd: 0.75, costEstimated: true });
    expect(p.calls()).toBe(1);
  });

  it("runs the checks also after an agent that was cut off", async () => {
    const p = claudeProject({ sleepMs: 60_000 });
    const { events } = await p.ralph("run", "-p", "a", "--max-time", "1s", "--check", "true", "--json");
    expect(events.map(({ type }) => type)).toContain("check.finished");
  });

  it.each([
    ["a plain command", ["--agent", "cat", "--max-cost", "1", "--max-tokens", "9"], ["cost", "tokens"]],
    ["an agent without its stream", ["--no-stream-agent-output", "--max-cost", "1"], ["cost"]],
  ])("warns when %s cannot be held to a limit", async (_, flags, blind) => {
    const { stderr } = await claudeProject(DONE).ralph("run", "-p", "a", "-n", "1", ...flags);
    const warned = [...stderr.matchAll(/--max-(\w+) cannot stop it, but --max-time can/g)].map(
      ([, what]) => what,
    );
    expect(warned).toEqual(blind);
  });

  it("tells Claude Code what it may still spend", async () => {
    const p = claudeProject({ text: "no", cost: 0.4 }, DONE);
    await p.ralph("run", "-p", "a", "--max-cost", "1");
    const budgets = [1, 2].map((call) => p.args(call)[p.args(call).indexOf("--max-budget-usd") + 1]);
    expect(budgets).toEqual(["1", "0.6"]);
  });
});

describe("an agent that does not end", () => {
  it("is killed with its whole tree when the iteration takes too long, and the next one starts", async () => {
    const p = claudeProject({ sleepMs: 60_000 }, DONE);
    p.program(
      "stubborn",
      "#!/bin/bash\ntrap '' TERM\ncat >/dev/null\nsetsid bash -c \"trap '' TERM; echo \\$\\$ > child.pid; sleep 600\" &\necho $$ > leader.pid\nwait\nsleep 600\n",
    );
    const { finished } = await p.ralph(
      ...splitWords("run -p a --agent stubborn --iteration-timeout 1s -n 1 --json"),
    );
    expect(finished).toMatchObject({ reason: "max_iterations", iterations: 1 });
    const pids = ["child.pid", "leader.pid"].map((file) => Number(p.read(file)));
    expect(pids.map(isAlive)).toEqual([false, false]);
  });

  it("is killed when it shows no sign of life, which is a failed iteration", async () => {
    const p = claudeProject({ sleepMs: 60_000 }, DONE);
    const { code, events } = await p.ralph("run", "-p", "a", "--inactivity-timeout", "1", "--json");
    expect({ code, calls: p.calls() }).toEqual({ code: 0, calls: 2 });
    expect(events.find(({ type }) => type === "agent.finished")).toMatchObject({
      stopped: "inactivity",
      error: "no sign of life within the inactivity timeout",
    });
  });

  it.each([
    ["changes files", "for i in 1 2 3 4 5 6 7 8; do echo $i > file; sleep 0.5; done"],
    ["uses the processor", "timeout 4 bash -c 'while :; do :; done'; true"],
    ["writes", "for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.5; done"],
  ])("is left alone while it %s", async (_, work) => {
    const p = createProject();
    p.program("worker", `#!/bin/bash\ncat >/dev/null\n${work}\necho '<response>DONE</response>'\n`);
    const { code } = await p.ralph(...splitWords("run -p a --agent worker --inactivity-timeout 2 -n 1"));
    expect(code).toBe(0);
  });

  it("is ended some time after its result, also when a child of it is busy", async () => {
    const result = { type: "result", subtype: "success", result: DONE.text };
    const p = claudeProject({
      onlyRaw: true,
      raw: [result],
      bash: "timeout 90 bash -c 'while :; do :; done' &>/dev/null & echo $! > busy.pid",
      sleepMs: 60_000,
    });
    expect((await p.ralph("run", "-p", "a", "--inactivity-timeout", "1", "-n", "1")).code).toBe(0);
    expect(isAlive(Number(p.read("busy.pid")))).toBe(false);
  });

  it("does not hold the loop when a child of it keeps stdout open", async () => {
    const p = createProject();
    p.program(
      "parent",
      "#!/bin/bash\ncat >/dev/null\nsleep 600 &\necho $! > child.pid\necho '<response>DONE</response>'\n",
    );
    expect((await p.ralph("run", "-p", "a", "--agent", "parent", "-n", "1")).code).toBe(0);
    expect(isAlive(Number(p.read("child.pid")))).toBe(false);
  });
});
