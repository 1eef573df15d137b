import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AGENT_NAMES, agentFor } from "../../src/agents/index.js";
import { resetTime } from "../../src/agents/limit.js";
import { addEvent, emptyReport, finalMessage } from "../../src/agents/report.js";
import { spent } from "../../src/agents/spending.js";

const FIXTURES = join(import.meta.dirname, "../fixtures");

/** Lines that the agent has really written. */
function recorded(agent: string): string[] {
  const files = readdirSync(join(FIXTURES, agent), { recursive: true, encoding: "utf8" })
    .map((name) => join(FIXTURES, agent, name))
    .filter((path) => path.endsWith(".ndjson") && statSync(path).isFile());
  const lines = files.flatMap((path) => readFileSync(path, "utf8").split("\n"));
  return lines.filter((line) => line !== "" && line.length < 10_000);
}

const STRANGE = fc.constantFrom<unknown>(
  ...[null, -1, 1e308, "", "x", [], {}, [null], { type: "text" }, "\u0000", true, { text: 1 }],
);

/** The same value with something else in one place. */
function damaged(value: unknown, place: number, strange: unknown): unknown {
  if (typeof value !== "object" || value === null || place < 1) return strange;
  const entries = Object.entries(value);
  if (entries.length === 0) return strange;
  const at = place % entries.length;
  const inner = damaged(entries[at]?.[1], Math.floor(place / entries.length), strange);
  const changed = entries.map(([key, one], index) => [key, index === at ? inner : one] as const);
  return Array.isArray(value) ? changed.map(([, one]) => one) : Object.fromEntries(changed);
}

describe.each(AGENT_NAMES)("what %s says", (name) => {
  const lines = recorded(name);

  it("becomes events and sane sums, whatever is wrong with a line", async () => {
    const { parse } = await agentFor(name);
    const line = fc
      .tuple(fc.constantFrom(...lines), fc.nat(5000), STRANGE)
      .map(([text, place, strange]) => JSON.stringify(damaged(JSON.parse(text), place, strange)));
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 5 }), (said) => {
        const report = said.flatMap((text) => parse(text)).reduce(addEvent, emptyReport());
        expect(typeof finalMessage(report)).toBe("string");
        const { costUsd, inputTokens, outputTokens } = spent(report);
        for (const sum of [costUsd ?? 0, inputTokens, outputTokens]) {
          expect(Number.isFinite(sum)).toBe(true);
          expect(sum).toBeGreaterThanOrEqual(0);
        }
      }),
      { numRuns: 200 },
    );
  });

  it("is read although bytes of it are cut out or put in", async () => {
    const { parse } = await agentFor(name);
    const torn = fc
      .tuple(fc.constantFrom(...lines), fc.nat(), fc.nat(40), fc.string({ unit: "binary", maxLength: 4 }))
      .map(([text, at, gone, put]) => {
        const start = at % text.length;
        return text.slice(0, start) + put + text.slice(start + gone);
      });
    fc.assert(
      fc.property(torn, (text) => Array.isArray(parse(text))),
      { numRuns: 200 },
    );
  });
});

const NOW = new Date("2026-11-15T16:00:00Z");
const ZONES = ["UTC", "Asia/Seoul", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"];
const WORDS = [
  "resets|try again|in|at|on|after|retry-after:|wait|1pm|13:00|99:99|25|Nov 16|Feb 31|tomorrow|Monday|(Asia/Seoul)",
  "(No/Where)|UTC+99|PST|12|999999999999|hours|5m|3 d|2026-11-16T05:00:00Z|2026-13-45 99:99|midnight|noon|,|.|1.5|\n",
]
  .join("|")
  .split("|")
  .concat("|");

describe("words about when a limit ends", () => {
  it("give a moment or none, whatever they are", () => {
    const text = fc.oneof(
      fc.array(fc.constantFrom(...WORDS), { maxLength: 12 }).map((words) => words.join(" ")),
      fc.string({ unit: "binary" }),
    );
    fc.assert(
      fc.property(text, (words) => {
        const moment = resetTime(words, NOW, "UTC");
        expect(moment === undefined || !Number.isNaN(moment.getTime())).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  it("that name a time of day in a zone mean the next one there", () => {
    const hour = fc.integer({ min: 0, max: 23 });
    const minute = fc.integer({ min: 0, max: 59 });
    fc.assert(
      fc.property(hour, minute, fc.constantFrom(...ZONES), fc.nat(8760), (h, m, zone, later) => {
        const now = new Date(NOW.getTime() + later * 3_600_000);
        const shown = `${h % 12 === 0 ? 12 : h % 12}:${String(m).padStart(2, "0")}${h < 12 ? "am" : "pm"}`;
        const moment = resetTime(`You've hit your limit · resets ${shown} (${zone})`, now, "UTC");
        const ahead = (moment?.getTime() ?? 0) - now.getTime();
        expect(ahead).toBeGreaterThanOrEqual(-10 * 60_000);
        expect(ahead).toBeLessThanOrEqual(25 * 3_600_000);
        const clock = (moment as Date).toLocaleTimeString("en-GB", { timeZone: zone });
        const [there, then] = clock.split(":").map(Number);
        // A time that a change of the clock skips comes an hour later.
        if (there === h) expect(then).toBe(m);
      }),
      { numRuns: 300 },
    );
  });
});
