import { expect, test } from "vitest";
import type { LoopEventBody } from "../../src/events.js";
import { verboseView } from "../../src/views/verbose.js";
import { LIMITS as limits } from "../kit.js";

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
  for (const event of EVENTS) void view.event({ v: 1, ts: "2026-11-15T08:00:00.000Z", run: "r1", ...event });
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
