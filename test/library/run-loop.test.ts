import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type FunctionAgent, type LoopEvent, type LoopSpec, type Outcome, runLoop } from "../../src/index.js";
import { createProject, eventually, isAlive, type Project } from "../kit.js";

const done: FunctionAgent = () => ({ finalOutput: "COMPLETE" });

function specFor(p: Project, more: Partial<LoopSpec> = {}): LoopSpec {
  return { task: "t", checks: ["true"], workspaceRoot: p.dir, home: join(p.home, ".ralph"), ...more };
}

/** Follows a loop to its end and calls `on` with every event. */
async function follow(spec: LoopSpec, on: (event: LoopEvent) => void = () => {}): Promise<Outcome> {
  const loop = runLoop(spec);
  let step = await loop.next();
  for (; !step.done; step = await loop.next()) on(step.value);
  return step.value;
}

function locksOf(p: Project): string[] {
  return readdirSync(join(p.home, ".ralph", "locks"));
}

test("tells everything in order and returns how it ended", async () => {
  const p = createProject();
  const types: string[] = [];
  const outcome = await follow(specFor(p, { agent: done }), ({ type }) => types.push(type));
  expect(types).toEqual([
    "run.started",
    "iteration.started",
    "agent.started",
    "agent.finished",
    "check.started",
    "check.finished",
    "iteration.finished",
    "run.finished",
  ]);
  expect(outcome).toMatchObject({ success: true, reason: "all_checks_passed", exitCode: 0, iterations: 1 });
  expect(locksOf(p)).toEqual([]);
});

test("a program has another in its place where the settings name one, and a function has nobody", async () => {
  const p = createProject();
  const other = p.program("other", "#!/bin/sh\ncat > /dev/null\necho COMPLETE\n");
  p.settings({ loop: { fallback_agents: [other] }, agents: { down: { command: "false" } } });
  const asked: string[] = [];
  const hear = (event: LoopEvent): void => {
    if (event.type === "agent.started") asked.push(event.agent);
  };
  expect((await follow(specFor(p, { agent: "down" }), hear)).iterations).toBe(1);
  const fails = (): never => {
    throw new Error("no");
  };
  const limits = { maxFailures: 1 };
  expect((await follow(specFor(p, { agent: fails, limits }), hear)).reason).toBe("agent_failed");
  expect(asked).toEqual(["down", "other", "fails"]);
});

test.each([
  ["a command line", (p: Project) => `${join(p.bin, "mine")} --loud`, "mine"],
  ["a profile of the settings", () => "night", "night"],
])("an agent can be %s", async (_what, agent, name) => {
  const p = createProject();
  p.program("mine", '#!/bin/sh\ncat > prompt\necho "$1"\necho COMPLETE\n');
  p.settings({ agents: { night: { command: join(p.bin, "mine"), flags: ["--loud"] } } });
  const started: LoopEvent[] = [];
  const outcome = await follow(specFor(p, { agent: agent(p), task: "TASK-TEXT" }), (event) => {
    if (event.type === "agent.started") started.push(event);
  });
  expect(outcome.reason).toBe("all_checks_passed");
  expect(started).toMatchObject([{ agent: name, command: [join(p.bin, "mine"), "--loud"] }]);
  expect(p.read("prompt")).toContain("TASK-TEXT");
});

const atWork = (p: Project) => eventually(() => p.exists("started"));
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

test.each<[string, LoopEvent["type"], (p: Project) => Partial<LoopSpec>, (p: Project) => Promise<void>]>([
  [
    "while a function is at work that does not listen",
    "agent.started",
    (p) => ({
      agent: () => {
        p.write("started", "");
        return new Promise(() => {});
      },
    }),
    atWork,
  ],
  [
    "while a check is at work",
    "check.started",
    () => ({ agent: done, checks: ["touch started; sleep 600"] }),
    atWork,
  ],
  [
    "while it backs off",
    "backoff.started",
    () => ({ agent: () => Promise.reject(new Error("no")), limits: { maxFailures: 50 } }),
    nextTurn,
  ],
])("a signal ends the run %s", async (_when, at, more, begun) => {
  const p = createProject();
  const stop = new AbortController();
  let aborted: Promise<void> | undefined;
  const outcome = await follow(specFor(p, { ...more(p), signal: stop.signal }), ({ type }) => {
    if (type === at) aborted ??= begun(p).then(() => stop.abort());
  });
  await aborted;
  expect(outcome).toMatchObject({ success: false, reason: "interrupted" });
  expect(locksOf(p)).toEqual([]);
});

test("a caller that stops listening ends the agent, frees the workspace and leaves a run that can be resumed", async () => {
  const p = createProject();
  const script =
    "if [ -f tried ]; then echo COMPLETE; exit; fi\ntouch tried\nsleep 600 &\necho $! > pid\necho on\nwait";
  p.program("slow", `#!/bin/sh\ncat > /dev/null\n${script}\n`);
  for await (const event of runLoop(specFor(p, { agent: join(p.bin, "slow") }))) {
    if (event.type === "agent.event") break;
  }
  expect(isAlive(Number(p.read("pid")))).toBe(false);
  expect(locksOf(p)).toEqual([]);
  const { code, finished } = await p.ralph("resume", "--json");
  expect({ code, finished }).toMatchObject({
    code: 0,
    finished: { reason: "all_checks_passed", iterations: 1 },
  });
});

test("a run of a function says why ralph cannot resume it", async () => {
  const p = createProject();
  for await (const event of runLoop(specFor(p, { agent: done }))) if (event.type === "agent.finished") break;
  const { code, stderr } = await p.ralph("resume");
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr:
      "ralph: error: the agent of this run is a function of a program: done (start a new run from that program; the files contain the work so far)\n",
  });
  expect(existsSync(p.runFolder())).toBe(true);
});

test("takes its defaults from the loop section of the settings, and null is a choice", async () => {
  const p = createProject();
  p.settings({ loop: { max_iterations: 2, completion_tag: "READY", max_cost: 3 } });
  const started: LoopEvent[] = [];
  const agent: FunctionAgent = () => ({ finalOutput: "COMPLETE" });
  const outcome = await follow(specFor(p, { agent }), (event) => started.push(event));
  expect(outcome).toMatchObject({ reason: "max_iterations", iterations: 2 });
  expect(started[0]).toMatchObject({ limits: { maxIterations: 2, maxCostUsd: 3 } });
  const free = await follow(
    specFor(p, { agent, maxCost: null, completionTag: null, maxIterations: 1 }),
    (event) => started.push(event),
  );
  expect(free).toMatchObject({ success: true });
  expect(started.findLast(({ type }) => type === "run.started")).toMatchObject({
    limits: { maxCostUsd: null },
  });
});
