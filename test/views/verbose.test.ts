import { expect, test } from "vitest";
import type { LoopEvent, LoopEventBody } from "../../src/events.js";
import { advance, initialState } from "../../src/records/run-state.js";
import { verboseView } from "../../src/views/verbose.js";
import { createProject, LIMITS as limits } from "../kit.js";

const ended = { exitCode: 0, signal: null, durationMs: 1200 };
const EVENTS: LoopEventBody[] = [
  {
    type: "run.started",
    recipe: "prompt",
    agent: "claude",
    credentials: null,
    workspace: "/home/dev/project",
    limits,
  },
  { type: "iteration.started", iteration: 1 },
  {
    type: "agent.started",
    iteration: 1,
    agent: "claude",
    command: ["claude", "-p", "--model", "opus"],
    attempt: 1,
    prompt: "Do it.\nNow.",
  },
  { type: "check.started", iteration: 1, command: "./mvnw clean install" },
  {
    ...ended,
    type: "check.finished",
    iteration: 1,
    command: "./mvnw clean install",
    timedOut: false,
    passed: true,
    log: "x.log",
    output: "",
  },
];

test("every step is a line of the seed's form, before the event itself", () => {
  const seen: string[] = [];
  const view = verboseView({
    event: ({ type }) => {
      seen.push(`event ${type}`);
      return undefined;
    },
    note: (text) => void seen.push(text),
    close: () => {},
  });
  const state = initialState("r1");
  for (const body of EVENTS) {
    const event: LoopEvent = { v: 1, ts: "2026-11-15T08:00:00.000Z", run: "r1", ...body };
    void view.event(event, advance(state, event));
  }
  expect(seen).toEqual([
    "[ralph] Run r1 in /home/dev/project",
    "event run.started",
    "[ralph] Iteration 1/10 starting",
    "event iteration.started",
    "[ralph] Agent command: claude -p --model opus",
    "[ralph] Prompt: Do it.\\nNow.",
    "event agent.started",
    "[ralph] Running guardrail: ./mvnw clean install",
    "event check.started",
    "[ralph] Guardrail exited with code 0 (1.2s)",
    "event check.finished",
  ]);
});

test("what an agent says steers neither the terminal of -V nor one that shows --json", async () => {
  const p = createProject();
  const hostile = "\u001b]0;title\u0007\u001b]52;c;aGk=\u0007\u001bP$q q\u001b\\\\\u009b31m\u007fend";
  p.agent([{ text: `${hostile}\n<response>DONE</response>` }]);
  const flags = ["-p", `do ${hostile}`, "--agent", "claude", "--check", `true '${hostile}'`];
  const controls = /[^\P{Cc}\n\t]/u;
  const verbose = await p.ralph("run", "-V", ...flags);
  expect(verbose.all).toContain("[ralph] Prompt: do ");
  expect(verbose.all).not.toMatch(controls);
  const json = await p.ralph("run", "--json", "-V", ...flags);
  expect(json.stdout).toContain("\\u009b31m\\u007fend");
  expect(json.stdout).not.toMatch(controls);
  expect((await p.ralph("report", "--json")).stdout).not.toMatch(controls);
});
