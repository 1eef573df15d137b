import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import type { LoopEvent } from "../../src/events.js";
import { claudeProject, type Project, type Step } from "../kit.js";
import { ASKS, BLOCKED, LIMITED, NETS, prepared, RECIPES } from "./nets-kit.js";

const DONE = "<response>DONE</response>\nCOMPLETE";
const LIMIT_WORDS = "You've hit your session limit";
const inTwoHours = (): number => Math.floor(Date.now() / 1000) + 7200;

function limited(more: Record<string, unknown> = {}): Step {
  const info = { status: "rejected", resetsAt: inTwoHours(), rateLimitType: "five_hour", ...more };
  return {
    raw: [{ type: "rate_limit_event", rate_limit_info: info }],
    text: LIMIT_WORDS,
    isError: true,
    exit: 1,
  };
}

function idOf(p: Project): string {
  return p.runFolder().split("/").at(-1) as string;
}

describe("a usage limit", () => {
  it("is waited for, also by the process after kill -9", async () => {
    const p = claudeProject(limited(), { text: DONE });
    const first = p.start(["run", "-p", "x", "--json"]);
    await first.until((output) => output.includes('"limit.waiting"'));
    first.child.kill("SIGKILL");
    const killed = await first.result;

    const second = p.start(["resume", "--json"]);
    await second.until((output) => output.includes('"limit.waiting"'));
    const status = await p.ralph("status", idOf(p));
    second.child.kill("SIGINT");
    const { code, finished, events } = await second.result;
    expect({ code, finished }).toMatchObject({
      code: 130,
      finished: { reason: "interrupted", iterations: 0 },
    });
    expect(status).toMatchObject({ code: 0, stdout: expect.stringContaining("Status: waiting") });
    const endOf = (all: typeof events): string[] =>
      all.flatMap((event) => (event.type === "limit.waiting" ? [event.until] : []));
    expect(endOf(events)).toEqual(endOf(killed.events));
    const minutes = (Date.parse(endOf(events)[0] as string) - Date.now()) / 60_000;
    expect(minutes).toBeGreaterThan(118);
    expect(minutes).toBeLessThan(122);
    expect(p.calls()).toBe(1);

    const third = await p.ralph("resume", "--no-wait-for-limits", "--json");
    expect(third.finished).toMatchObject({ success: true, iterations: 1 });
  });

  it("is shown by ralph ls, status and logs, with its end, and can be paused", async () => {
    const p = claudeProject(limited());
    const run = p.start(["run", "-p", "x", "--json", "--name", "night"]);
    await run.until((output) => output.includes('"limit.waiting"'));
    const [listed, status] = await Promise.all([
      p.ralph("ls", "--status", "waiting"),
      p.ralph("status", idOf(p)),
    ]);
    expect(listed.stdout).toMatch(/ waiting: limit .* waiting for a usage limit to end until \S+ \S+ UTC\n/);
    expect(status.stdout).toMatch(/^Waiting until: \d{4}-/m);
    const [plain, refused] = [await p.ralph("resume"), await p.ralph("resume", "--no-wait-for-limits")];
    const waiting = "run night is waiting for a usage limit to end";
    expect([plain.code, plain.stderr]).toEqual([0, `ralph: warning: ${waiting}, and not paused\n`]);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      `ralph: error: --no-wait-for-limits cannot change while ${waiting} (ralph kill night ends it, and ralph resume night --no-wait-for-limits continues it)\n`,
    ]);
    expect(listed.stdout).toContain(" 1/10 ");
    expect(status.stdout).toContain("Iteration: 1/10\n");
    expect((await p.ralph("logs")).stdout).toContain("The usage limit of claude is reached");
    expect((await p.ralph("pause")).stdout).toBe(
      "pausing run night: no agent is running, so the loop pauses now\n",
    );
    await run.until((output) => output.includes('"run.paused"'));
    run.child.kill("SIGINT");
    await run.result;
    expect((await p.ralph("status", "night")).stdout).toContain("Iteration: 0/10\n");
  });

  it("is paid extra usage in the midst of the work: the agent is ended at once, and nothing is charged", async () => {
    const overage = { status: "allowed", resetsAt: inTwoHours(), isUsingOverage: true };
    const p = claudeProject({
      bash: "echo half > work",
      raw: [{ type: "rate_limit_event", rate_limit_info: overage }],
      sleepMs: 60_000,
      text: DONE,
    });
    const run = p.start(["run", "-p", "x", "--json"]);
    await run.until((output) => output.includes('"limit.waiting"'));
    run.child.kill("SIGINT");
    const { events, finished } = await run.result;
    expect([finished.iterations, p.read("work")]).toEqual([0, "half\n"]);
    const ended = events.find(({ type }) => type === "agent.finished");
    expect(ended).toMatchObject({
      stopped: "overage",
      limit: { message: expect.stringContaining("paid extra") },
    });
  });

  it("is paid extra usage of an agent that has ended by itself: its work counts, and the next one waits", async () => {
    const overage = { status: "allowed", resetsAt: inTwoHours(), isUsingOverage: true };
    const last = { type: "rate_limit_event", rate_limit_info: overage };
    const result = { type: "result", subtype: "success", is_error: false, result: "half" };
    const p = claudeProject({ onlyRaw: true, raw: [result, last] });
    const run = p.start(["run", "-p", "x", "--json"]);
    await run.until((output) => output.includes('"limit.waiting"'));
    run.child.kill("SIGINT");
    const { events, finished } = await run.result;
    expect([finished.iterations, p.calls()]).toEqual([1, 1]);
    expect(events.find(({ type }) => type === "limit.waiting")).toMatchObject({ iteration: 2, stated: true });
  });

  it("is not paid extra usage with --allow-overage", async () => {
    const overage = { status: "allowed", isUsingOverage: true };
    const p = claudeProject({ raw: [{ type: "rate_limit_event", rate_limit_info: overage }], text: DONE });
    const { finished } = await p.ralph("run", "-p", "x", "--allow-overage", "--json");
    expect(finished).toMatchObject({ reason: "completed", iterations: 1 });
  });
});

describe("a question to a human", () => {
  const DECIDES: Step = { text: "Which one?\n<promise>DECIDE: Postgres or SQLite?</promise>" };

  it("stops the run, and goes on with the answer", async () => {
    const p = claudeProject(DECIDES, { text: DONE });
    const { stdout } = await p.ralph("run", "-p", "x", "--check", "true", "--name", "db");
    expect(stdout).toMatch(/question +Postgres or SQLite\?\n +answer +ralph answer \S+ "TEXT"\n/);
    const shown = await Promise.all([p.ralph("status", idOf(p)), p.ralph("runs"), p.ralph("report")]);
    expect(shown.map((one) => one.stdout)).toEqual([
      expect.stringContaining("Question: Postgres or SQLite?"),
      expect.stringContaining("asks: Postgres or"),
      expect.stringMatching(/question +Postgres or SQLite\?/),
    ]);

    const unanswered = await p.ralph("resume");
    expect(unanswered.code).toBe(2);
    expect(unanswered.stderr).toContain("waits for an answer: Postgres or SQLite?");

    const answered = await p.ralph("answer", idOf(p), "Use SQLite please");
    expect(answered).toMatchObject({ code: 0, stdout: expect.stringContaining("ralph resume") });
    expect((await p.ralph("runs")).stdout).toContain("answered: Postgres or");
    expect((await p.ralph("status", idOf(p))).stdout).toMatch(/^Answered: ralph resume \S+ continues it$/m);
    const second = await p.ralph("resume", "--json");
    expect(second.finished).toMatchObject({ success: true, iterations: 2 });
    expect(p.prompt(2)).toContain(
      "An earlier agent asked: Postgres or SQLite?\nThe answer is: Use SQLite please",
    );
    expect(await p.ralph("answer", idOf(p), "too late")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("has not asked anything"),
    });
  });

  it("in the last iteration needs one more, and has one answer: the last one", async () => {
    const p = claudeProject(DECIDES);
    const { stdout } = await p.ralph("run", "-p", "x", "-n", "1", "--name", "night");
    const goesOn = "ralph resume night --max-iterations N";
    expect(stdout).toMatch(new RegExp(`resume +${goesOn}\n`));
    const first = await p.ralph("answer", idOf(p), "first");
    expect(first.stdout).toBe(`answered; ${goesOn} continues it\n`);
    expect((await p.ralph("status", idOf(p))).stdout).toContain(`Answered: ${goesOn} continues it\n`);
    const { stderr } = await p.ralph("answer", idOf(p), "second");
    expect(stderr).toContain("this replaces your earlier answer");
    expect(JSON.parse(readFileSync(join(p.runFolder(), "answer.json"), "utf8"))).toEqual({
      question: "Postgres or SQLite?",
      answer: "second",
    });
  });
});

const type = ({ type }: LoopEvent): string => type;

function notes(p: Project): unknown[] {
  const file = join(p.root, "notes.ndjson");
  const lines = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
  return lines.map((line) => {
    const { event, iterations } = JSON.parse(line) as { event: string; iterations: number };
    return [event, iterations];
  });
}

describe.each(RECIPES)("ralph %s", (_, args) => {
  test("waits for a limit, is blocked, goes on with an answer and another agent, and protects files", async () => {
    const p = prepared([LIMITED, ASKS, LIMITED]);
    const first = await p.ralph(...args, "--json", ...NETS);
    expect(first).toMatchObject({
      code: 1,
      finished: { reason: "blocked", iterations: 1, question: { kind: "blocked", text: BLOCKED } },
    });
    const told = /^(limit|violation|iteration\.finished|agent\.started)/;
    expect(first.events.map(type).filter((name) => told.test(name))).toEqual([
      "agent.started",
      "limit.waiting",
      "agent.started",
      "violation",
      "iteration.finished",
    ]);
    expect(p.read("kept")).toBe("good\n");

    if (args[0] === "pipeline") {
      const { stdout } = await p.ralph("pipeline", "status");
      expect(stdout).toContain(
        `Question: ${BLOCKED}\nAnswer it with: ralph answer ${first.finished.run} "TEXT"`,
      );
    }
    expect((await p.ralph("answer", first.finished.run, "Use the blue one")).code).toBe(0);
    const second = await p.ralph("resume", "--json", "--fallback-agent", "other");
    expect(second).toMatchObject({ code: 0, finished: { success: true, iterations: 2 } });
    const asked = second.events.flatMap((event) =>
      event.type === "agent.started" ? [[event.agent, event.insteadOf]] : [],
    );
    expect(asked).toEqual([
      ["claude", undefined],
      ["other", "claude"],
    ]);
    const prompt = readFileSync(join(p.root, "other.prompt"), "utf8");
    expect(prompt).toContain(`asked: ${BLOCKED}\nThe answer is: Use the blue one`);
    expect(prompt).toContain("- kept is protected, but it changed: ralph restored it");
    if (args[0] === "run") expect((await p.ralph("report")).stdout).toMatch(/AGENT +OUTCOME\n.*\n.* other +/);
    expect(notes(p)).toEqual([
      ["waiting", 0],
      ["blocked", 1],
      ["finished", 2],
    ]);
  });

  test("gets the stronger model when it is stuck, ends as stuck, and goes on with a raised limit", async () => {
    const p = prepared([{ text: "no" }, { text: "no" }, ASKS]);
    const nets = ["--stuck-after", "1", "--escalate-model", "opus"];
    const patient = args.map((word, at) => (args[at - 1] === "--max-gate-retries" ? "9" : word));
    const { finished } = await p.ralph(...patient, "--json", ...nets);
    expect(finished).toMatchObject({ reason: "stuck", iterations: 2 });
    expect(finished.message).toContain("claude (opus) could not help either");
    expect([1, 2].map((call) => p.args(call).includes("opus"))).toEqual([false, true]);
    const resumed = await p.ralph("resume", "--stuck-after", "9", "--json");
    expect(resumed.finished).toMatchObject({ reason: "blocked", iterations: 3 });
  });

  test("takes a check that ran no test for one that failed, and says why", async () => {
    const p = prepared([{ bash: "touch done", text: "<response>DONE</response>\nCOMPLETE" }]);
    const none = "./pytest";
    p.program("pytest", "#!/bin/sh\necho collected 0 items\n");
    p.sh(
      "cp ../bin/pytest pytest && sed -i 's|test -f done|./pytest|' ralph/tasks.json .ralph/pipeline.yaml && git add -A && git commit -qm none",
    );
    const asked = args.map((word) => (word === "test -f done" ? none : word));
    const { code, stdout } = await p.ralph(...asked, "--max-iterations", "1");
    expect(code).toBe(1);
    expect(stdout).toMatch(
      args[0] === "pipeline" ? /no tests were found/ : /Failed \(exit 0, but it ran no test, /,
    );
  });
});
