import { expect, test } from "vitest";
import { formatDuration, parseDuration } from "../src/duration.js";

const DURATIONS: [value: string | number, ms: number | undefined][] = [
  [600, 600_000],
  ["90s", 90_000],
  ["10m", 600_000],
  ["1d", 86_400_000],
  ["250ms", 250],
  ["1.5h", 5_400_000],
  [0, 0],
  ["0.0005s", 1],
  ["", undefined],
  ["10 m", undefined],
  ["10min", undefined],
  ["1h30m", undefined],
  [-5, undefined],
  ["1e3", undefined],
  [Number.NaN, undefined],
  [Number.POSITIVE_INFINITY, undefined],
];

test.each(DURATIONS)("%j is %j milliseconds", (value, ms) => {
  expect(parseDuration(value)).toBe(ms);
});

const FORMATTED: [ms: number, text: string][] = [
  [0, "0.0s"],
  [1234, "1.2s"],
  [45_200, "45.2s"],
  [59_900, "59.9s"],
  [60_000, "1m0s"],
  [367_000, "6m7s"],
  [3_599_600, "1h0m"],
  [90_000_000, "25h0m"],
];

test.each(FORMATTED)("%j milliseconds read %s", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});
