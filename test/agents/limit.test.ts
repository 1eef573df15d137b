import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { claude } from "../../src/agents/claude.js";
import { gemini } from "../../src/agents/gemini.js";
import { type CallEnding, resetTime, usageLimit } from "../../src/agents/limit.js";
import { opencode } from "../../src/agents/opencode.js";
import { tellsOfLimit, tellsOfLogin } from "../../src/agents/own-words.js";
import { type AgentReport, addEvent, emptyReport } from "../../src/agents/report.js";
import type { AgentEvent } from "../../src/events.js";

describe("the time at which a limit ends", () => {
  test.each([
    // words, now, expected, own time zone
    ["resets 1pm (Asia/Seoul)", "2026-11-15T01:00Z", "2026-11-15T04:00Z"],
    ["resets 4pm (Europe/Berlin)", "2026-07-01T08:00Z", "2026-07-01T14:00Z"],
    ["resets 12am (America/New_York)", "2026-11-15T20:00Z", "2026-11-16T05:00Z"],
    // Clocks change in the night between: 25 and 23 hours.
    ["resets 8am (Europe/Berlin)", "2026-10-24T06:30Z", "2026-10-25T07:00Z"],
    ["resets 8am (Europe/Berlin)", "2026-03-28T07:30Z", "2026-03-29T06:00Z"],
    ["resets 2:30am (Europe/Berlin)", "2026-10-24T20:00Z", "2026-10-25T00:30Z"],
    ["resets Nov 16 at 5am", "2026-11-15T12:00Z", "2026-11-16T13:00Z", "America/Los_Angeles"],
    ["resets Nov 16, 5am (Asia/Tokyo)", "2026-11-15T12:00Z", "2026-11-15T20:00Z"],
    ["resets Jan 2 at 5am", "2026-12-30T12:00Z", "2027-01-02T05:00Z", "UTC"],
    ["try again at Nov 16th, 2026 5:13 AM.", "2026-11-15T12:00Z", "2026-11-16T05:13Z", "UTC"],
    ["resets tomorrow at 9am", "2026-11-30T12:00Z", "2026-12-01T09:00Z", "UTC"],
    ["resets at 2026-11-16T05:00:00Z", "2026-11-15T12:00Z", "2026-11-16T05:00Z"],
    ["resets 5pm UTC+2", "2026-11-15T12:00Z", "2026-11-15T15:00Z", "Asia/Tokyo"],
    ["resets at 2026-11-16 05:00", "2026-11-15T12:00Z", "2026-11-15T20:00Z", "Asia/Tokyo"],
    ["resets at midnight", "2026-11-15T12:00Z", "2026-11-16T00:00Z"],
    ["retry-after: Mon, 16 Nov 2026 05:00:00 GMT", "2026-11-15T12:00Z", "2026-11-16T05:00Z"],
    ["retry-after-ms: 1500", "2026-11-15T12:00Z", "2026-11-15T12:00:01.5Z"],
    ["try again in 1 day, 2 hours and 5 minutes.", "2026-11-15T12:00Z", "2026-11-16T14:05Z"],
    ["Your quota will reset after 3h12m30s.", "2026-11-15T12:00Z", "2026-11-15T15:12:30Z"],
    ['"retryDelay":"34s"', "2026-11-15T12:00Z", "2026-11-15T12:00:34Z"],
    ["retry-after: 120", "2026-11-15T12:00Z", "2026-11-15T12:02Z"],
    ["Claude AI usage limit reached|1763280000", "2025-11-16T00:00Z", "2025-11-16T08:00Z"],
    // The 15th is a Sunday.
    ["resets on Monday, Nov 16 at 9:00 AM UTC", "2026-11-15T12:00Z", "2026-11-16T09:00Z", "Asia/Tokyo"],
    ["resets Tue 5am", "2026-11-15T12:00Z", "2026-11-17T05:00Z"],
    ["Your limit will reset at 7pm (America/New_York).", "2026-07-15T12:00Z", "2026-07-15T23:00Z"],
    ["resets at midnight Pacific Time", "2026-11-15T12:00Z", "2026-11-16T08:00Z"],
    ['"resets_at":1794769134', "2026-11-15T12:00Z", "2026-11-15T18:58:54Z"],
    ['"resets_in_seconds":11520', "2026-11-15T12:00Z", "2026-11-15T15:12Z"],
    ["retry after 2026-11-16T05:00:00Z", "2026-11-15T12:00Z", "2026-11-16T05:00Z"],
    ["Please wait 5 minutes before trying again", "2026-11-15T12:00Z", "2026-11-15T12:05Z"],
    ["Please try again in 193ms.", "2026-11-15T12:00Z", "2026-11-15T12:00:00.193Z"],
    ["You will regain access on 2026-12-01 at 00:00 UTC.", "2026-11-15T12:00Z", "2026-12-01T00:00Z"],
    ['"retry_after": 3600', "2026-11-15T12:00Z", "2026-11-15T13:00Z"],
    ["(retry 2 of 5) · resets 1pm (Asia/Seoul)", "2026-11-15T01:00Z", "2026-11-15T04:00Z"],
  ])("%s, said at %s, is %s", (words, now, expected, zone = "UTC") => {
    expect(resetTime(words, new Date(now), zone)).toEqual(new Date(expected));
  });

  test.each([
    "You've hit your limit",
    "resets soon",
    "retry-after: ",
    "resets 1pm (Nowhere/Town)",
    "resets 25:00",
    "resets 5",
    "resets Nov 31 at 5am",
    "try again later",
    "(retry 2 of 5)",
    "",
  ])("%s does not tell it", (words) => {
    expect(resetTime(words, new Date("2026-11-15T12:00Z"), "UTC")).toBeUndefined();
  });
});

describe("an agent's own error text", () => {
  test.each([
    "You've hit your limit · resets 1pm (Asia/Seoul)",
    "You’ve hit your session limit · resets 4pm (Europe/Berlin)",
    "API Error: Request rejected (429) · Rate limit reached",
    "exceeded retry limit, last status: 429 Too Many Requests",
    "You've hit your usage limit. Upgrade to Pro or try again in 3 hours 12 minutes.",
    '[API Error: {"error":{"code":429,"message":"Resource exhausted","status":"RESOURCE_EXHAUSTED"}}]',
    "TerminalQuotaError: You have exhausted your daily quota on this model.",
    "You exceeded your current quota, please check your plan and billing details.",
    "Rate limit reached for gpt-5 in organization org-x on tokens per min. Please try again in 1.3s.",
    "stream error: exceeded retry limit, last status: 429 Too Many Requests; retrying 1/5 in 193ms",
    "You're out of extra usage · resets 3pm",
    "Attempt 3 failed with status 429. Retrying with backoff...",
    "Limit reached · resets 4pm · /upgrade to increase your usage limit",
    "⚠ Usage limit reached · limit resets 6:58pm",
    "\u001b[31mYou've hit your limit · resets 1pm (Asia/Seoul)\u001b[39m",
    'API Error (429 {"type":"error","error":{"type":"rate_limit_error","message":"x"}}) · Retrying in 5 seconds…',
    "Your workspace is out of credits. Add credits to continue.",
    "⚡ You have reached your daily gemini-2.5-pro quota limit.",
    "AI_RetryError: Failed after 3 attempts. Last error: Too Many Requests",
    "ThrottlingException: Too many tokens, please wait before trying again.",
    "Error code: 429 - {'error': {'message': 'Rate limit reached'}}",
    "You have been rate limited. Please try again in 20s.",
    "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.",
    "Resource has been exhausted (e.g. check quota).",
  ])("tells of a limit: %s", (text) => {
    expect(tellsOfLimit(text)).toBe(true);
  });

  test.each([
    "I added a retry for HTTP 429 and the rate limit is handled now.",
    "The tests fail because you've hit your limit of 3 retries in the code",
    "Installed ratelimit 2.2.1",
    "exit code 1: npm ERR! 429 Too Many Requests - GET /left-pad",
    "API Error: 500 Internal server error",
    "You're out of usage examples to copy",
    "Resource exhausted the patience of the test",
    "429 tests failed",
    "Too many requests are made by this loop",
    "rate limiting detected. Automatically switching from gemini-2.5-pro to gemini-2.5-flash",
    "Context limit reached · /compact or /clear to continue",
    "Selected model is at capacity. Please try a different model.",
    "Approaching usage limit · resets at 7pm",
    "express-rate-limit: 429 handler added",
    "You've hit your limit switch in the motor driver",
    "Max limit exceeded (maxBuffer)",
    "Resource exhausted: out of file handles",
    "AssertionError: Rate limit exceeded",
    "Rate limited: the middleware is tested, two tests still fail",
    "",
  ])("does not: %s", (text) => {
    expect(tellsOfLimit(text)).toBe(false);
  });
});

test.each([
  ["Not authenticated. Run `cursor-agent login`.", true],
  ["Error: unable to authenticate with the provider", true],
  ["Missing bearer or basic authentication in header", true],
  ["the push failed: run gh auth login", false],
  ["I added tests for the login", false],
])("%s tells that nobody is signed in: %j", (text, isSo) => {
  expect(tellsOfLogin(text)).toBe(isSo);
});

const NOW = new Date("2026-11-15T12:00:00Z");
const FAILED: CallEnding = {
  error: "exit code 1",
  stopped: null,
  finalMessage: "",
  stderr: "",
  isPlain: false,
};

function report(...events: AgentEvent[]): AgentReport {
  return events.reduce(addEvent, emptyReport());
}

function recorded(parse: (line: string) => AgentEvent[], path: string): AgentReport {
  const text = readFileSync(join(import.meta.dirname, "../fixtures", path), "utf8");
  return report(...text.split("\n").flatMap(parse));
}

function ended(report: AgentReport, more: Partial<CallEnding> = {}) {
  return usageLimit(report, { ...FAILED, error: report.error ?? FAILED.error, ...more }, NOW);
}

describe("a usage limit", () => {
  const line = (value: unknown): AgentEvent[] => claude.parse(JSON.stringify(value));
  const rejected = line({
    type: "rate_limit_event",
    rate_limit_info: { status: "rejected", resetsAt: 1794747600, rateLimitType: "five_hour" },
  });
  const field = {
    type: "result",
    subtype: "success",
    is_error: true,
    api_error_status: 429,
    result: "You've hit your session limit · resets 4pm (Europe/Berlin)",
    terminal_reason: "api_error",
  };
  const tool: AgentEvent = { type: "tool_start", id: "1", name: "Bash", input: "ls" };

  it("is found in the result of Claude Code, with its time", () => {
    expect(ended(report(...line(field)))).toEqual({
      resetsAt: "2026-11-15T15:00:00.000Z",
      message: field.result,
    });
  });

  it("is found where the service refuses what is used up with another status, but not where it is down", () => {
    const words =
      "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.";
    const refused = (status: number) =>
      ended(report(...line({ ...field, api_error_status: status, result: `API Error: ${status} ${words}` })));
    expect([refused(400)?.resetsAt, refused(500)]).toEqual(["2026-12-01T00:00:00.000Z", undefined]);
  });

  test.each([
    [
      "Claude Code, killed between its retries",
      recorded(claude.parse, "claude/2.1.325/e429.ndjson"),
      { stopped: "inactivity" },
    ],
    ["Claude Code, in the midst of it", recorded(claude.parse, "claude/2.1.325/limit-later.ndjson"), {}],
    [
      "Gemini, which is silent and was killed",
      recorded(gemini.parse, "gemini/0.61/e429.ndjson"),
      {
        stopped: "inactivity",
        stderr: "YOLO mode\nAttempt 4 failed with status 429. Retrying with backoff...\n",
      },
    ],
    ["a line that is no event", report(...claude.parse("Claude AI usage limit reached|1763280000")), {}],
    ["a plain command on stderr", emptyReport(), { isPlain: true, stderr: "x\nUsage limit reached.\n" }],
    [
      "the only line of a plain text",
      emptyReport(),
      { isPlain: true, finalMessage: "You've hit your limit\n" },
    ],
  ] satisfies [string, AgentReport, Partial<CallEnding>][])(
    "is found in what is recorded of %s",
    (_, seen, more) => {
      expect(ended(seen, more)).toMatchObject({ message: expect.stringMatching(/./) });
    },
  );

  test.each([
    [{ "retry-after": "30" }, "2026-11-15T12:00:30.000Z"],
    [{ "retry-after-ms": "1500" }, "2026-11-15T12:00:01.500Z"],
    [{ "retry-after-ms": "1500", "retry-after": "2" }, "2026-11-15T12:00:01.500Z"],
    [{ "retry-after": "" }, null],
    [{ "retry-after": "soon", "retry-after-ms": "-5" }, null],
  ])("has the time of the headers %j", (responseHeaders, resetsAt) => {
    const data = { message: "slow down", statusCode: 429, responseHeaders };
    const events = opencode.parse(JSON.stringify({ type: "error", error: { name: "APIError", data } }));
    expect(ended(report(...events))).toMatchObject({ resetsAt });
  });

  it("ends when Gemini's result says, though only its stderr says that there is one", () => {
    const message = "[API Error: Too many\nSuggested retry after 7200s.]\nPlease wait and try again later.";
    const events = gemini.parse(JSON.stringify({ type: "result", status: "error", error: { message } }));
    expect(ended(report(...events), { error: message, stderr: "ApiError {\n  status: 429\n}\n" })).toEqual({
      resetsAt: "2026-11-15T14:00:00.000Z",
      message: message.replaceAll("\n", " "),
    });
  });

  test.each([
    ["[API Error: fetch failed]", "ApiError {\n  status: 429\n}\n", true],
    ["[API Error: fetch failed]", "Too many requests\n", false],
    ["[API Error: fetch failed with 503]", "ApiError {\n  status: 429\n}\n", false],
    ["unexpected status 500 Internal Server Error", "ApiError {\n  status: 429\n}\n", false],
    ["boom", "ApiError {\n  status: 429\n}\n", false],
    ["Usage limit reached.", "connection closed\n", true],
  ])("with the error %j and %j on stderr is one: %j", (error, stderr, isOne) => {
    expect(ended(report({ type: "result", error }), { stderr }) !== undefined).toBe(isOne);
  });

  it("is paid extra usage when the agent was ended for it", () => {
    const info = { status: "allowed", isUsingOverage: true, resetsAt: 1794747600 };
    const seen = report(...line({ type: "rate_limit_event", rate_limit_info: info }));
    expect(ended(seen, { stopped: "overage" })).toMatchObject({ resetsAt: "2026-11-15T13:00:00.000Z" });
  });

  const talks = "You've hit your limit · resets 1pm (Asia/Seoul)";
  test.each([
    ["a server that fails", recorded(claude.parse, "claude/2.1.325/e500-noretry.ndjson"), {}],
    ["a limit that was over before it failed", report(...rejected, tool), {}],
    [
      "a limit that it got over",
      report(...rejected, { type: "result", text: "done" }),
      { error: null, finalMessage: "done" },
    ],
    ["a stray line before its work", report(...claude.parse("Usage limit reached"), tool), {}],
    [
      "what a plain command says of its work",
      emptyReport(),
      { isPlain: true, finalMessage: "Rate limited: the middleware is tested, two tests still fail\n" },
    ],
    [
      "paid extra usage after the answer",
      report({ type: "result", text: "done" }, { type: "rate_limit", status: "allowed", usingOverage: true }),
      { error: null, stopped: "overage", finalMessage: "done" },
    ],
    ["somebody who stopped it", report(...rejected), { stopped: "interrupted", error: "interrupted" }],
    [
      "a package on the stderr of a command",
      emptyReport(),
      { isPlain: true, stderr: `${talks}\nratelimit: not found\n` },
    ],
  ] satisfies [string, AgentReport, Partial<CallEnding>][])("is not %s", (_, seen, more) => {
    expect(ended(seen, more)).toBeUndefined();
  });
});
