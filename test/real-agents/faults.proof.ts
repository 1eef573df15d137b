import { describe, expect, it } from "vitest";
import type { Result } from "../kit.js";
import { AGENT, type Staged, stage, tell } from "./kit.js";
import type { Failure } from "./model/dialect.js";
import { SUBSCRIBED } from "./setups.js";

const DONE = "<response>DONE</response>";
const QUICK = ["--inactivity-timeout", "3", "--max-failures", "1", "--json"];
const refused = (status: number, more: Partial<Failure> = {}): { fail: Failure } => ({
  fail: { status, type: "invalid_request_error", message: "the service says no", ...more },
});
const TOO_MANY = refused(429, { type: "rate_limit_error" });

/** It asks again by itself, without a word, whatever the service says. */
const TRIES_ON = AGENT === "opencode";
const SILENT = "ended for inactivity: it tries again without a word";

describe("faults", () => {
  it("HTTP 400: the iteration has failed with what the service says", async () => {
    const p = await stage([refused(400)]);
    const result = await p.ralph("run", "-p", "Work", ...QUICK);
    expect(ending(result)).toEqual({ code: 1, reason: "agent_failed", iterations: 1, stopped: [null] });
    expect(errors(result)).toEqual([expect.stringContaining("the service says no")]);
  });

  it("HTTP 500, once: the iteration has failed, and the next one completes", async (context) => {
    const p = await stage([refused(500), { say: DONE }]);
    const result = await p.ralph("run", "-p", "Work", "--json");
    if (TRIES_ON) tell(context, "it tries again by itself, in the same iteration");
    const failed = TRIES_ON ? [] : [expect.stringMatching(/the service says no|high demand/)];
    expect(errors(result)).toEqual([...failed, null]);
    expect(result).toMatchObject({
      code: 0,
      finished: { reason: "completed", iterations: failed.length + 1 },
    });
  });

  it.skipIf(AGENT === "amp")("HTTP 429 with a reset: ralph waits until then", async (context) => {
    const resetsAt = Math.ceil(Date.now() / 1000) + 7200;
    const p = await stage([limitedUntil(resetsAt)]);
    Object.assign(p.env, SUBSCRIBED[AGENT]);
    if (TRIES_ON) return silence(p, context);
    const minutesLeft = (Date.parse(await waitingUntil(p)) - resetsAt * 1000) / 60_000;
    // A minute more, to be sure; Codex tells no seconds.
    expect(minutesLeft).toBeGreaterThanOrEqual(0);
    expect(minutesLeft).toBeLessThan(5);
  });

  it("HTTP 429 without a reset: ralph waits, and charges nothing", async (context) => {
    const p = await stage([TOO_MANY]);
    if (TRIES_ON) return silence(p, context);
    const minutes = (Date.parse(await waitingUntil(p)) - Date.now()) / 60_000;
    expect(minutes).toBeGreaterThan(4);
    expect(minutes).toBeLessThan(8);
  });

  it("a stream that is cut after the words for done: they prove nothing", async (context) => {
    const p = await stage([
      { say: `${DONE} is what I would say, had I come to the end of this.`, cut: true },
    ]);
    if (TRIES_ON) return silence(p, context);
    const result = await p.ralph("run", "-p", "Work", ...QUICK);
    expect(ending(result)).toEqual({ code: 1, reason: "agent_failed", iterations: 1, stopped: [null] });
  });

  it("a model that never answers: the agent is ended for inactivity", async () => {
    const p = await stage([{ hang: true }]);
    const result = await p.ralph("run", "-p", "Work", ...QUICK);
    expect(ending(result)).toEqual(INACTIVE);
  });
});

const INACTIVE = { code: 1, reason: "agent_failed", iterations: 1, stopped: ["inactivity"] };

async function silence(p: Staged, context: Parameters<typeof tell>[0]): Promise<void> {
  tell(context, SILENT);
  expect(ending(await p.ralph("run", "-p", "Work", ...QUICK))).toEqual(INACTIVE);
}

/** Each service has its own way to say when a limit ends. */
function limitedUntil(resetsAt: number): { fail: Failure } {
  const seconds = resetsAt - Math.ceil(Date.now() / 1000);
  const retry = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: `${seconds}s` };
  switch (AGENT) {
    case "codex":
      return refused(429, { type: "usage_limit_reached", more: { resets_at: resetsAt } });
    case "gemini":
      return refused(429, { type: "RESOURCE_EXHAUSTED", more: { details: [retry] } });
    default:
      return refused(429, { type: "rate_limit_error", headers: limitHeaders(resetsAt, seconds) });
  }
}

function limitHeaders(resetsAt: number, seconds: number): Record<string, string> {
  return {
    "retry-after": String(seconds),
    "anthropic-ratelimit-unified-status": "rejected",
    "anthropic-ratelimit-unified-reset": String(resetsAt),
    "anthropic-ratelimit-unified-representative-claim": "five_hour",
  };
}

/** Ends the run as soon as it waits: until when it would have. */
async function waitingUntil(p: Staged): Promise<string> {
  const run = p.start(["run", "-p", "Work", ...QUICK]);
  await run.until((output) => output.includes('"limit.waiting"'));
  run.child.kill("SIGTERM");
  const { code, events, finished } = await run.result;
  expect({ code, iterations: finished.iterations }).toEqual({ code: 130, iterations: 0 });
  const waiting = events.find((event) => event.type === "limit.waiting");
  return waiting?.type === "limit.waiting" ? waiting.until : "";
}

function ending({ code, finished, events }: Result) {
  const stopped = events.flatMap((event) => (event.type === "agent.finished" ? [event.stopped] : []));
  return { code, reason: finished.reason, iterations: finished.iterations, stopped };
}

function errors({ events }: Result): (string | null)[] {
  return events.flatMap((event) => (event.type === "agent.finished" ? [event.error] : []));
}
