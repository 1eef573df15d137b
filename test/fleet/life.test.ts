import { expect, it } from "vitest";
import type { LoopEvent } from "../../src/events.js";
import { lifeOf } from "../../src/fleet/claim.js";

const MINUTE = 60_000;
const event = (type: string, lane?: string): LoopEvent =>
  ({ v: 1, type, ts: "2026-01-01T00:00:00.000Z", run: "run", ...(lane && { lane }) }) as LoopEvent;

it("counts a run as alive while one of its lanes is within the time of its step", () => {
  const life = lifeOf({ inactivityTimeoutMs: 15 * MINUTE, checkTimeoutMs: 60 * MINUTE }, 0);
  life.event(event("check.started", "a"), 0);
  // Another lane that goes on takes no time from the check.
  life.event(event("iteration.finished", "b"), MINUTE);
  expect([life.isAlive(69 * MINUTE), life.isAlive(70 * MINUTE)]).toEqual([true, false]);
});

it("gives the step at work its time anew with each sign of life", () => {
  const life = lifeOf({ inactivityTimeoutMs: 15 * MINUTE, checkTimeoutMs: 10 * MINUTE }, 0);
  life.event(event("agent.started"), 0);
  life.touch(20 * MINUTE);
  expect([life.isAlive(44 * MINUTE), life.isAlive(45 * MINUTE)]).toEqual([true, false]);
});
