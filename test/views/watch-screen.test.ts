import { describe, expect, test } from "vitest";
import { createFormatter } from "../../src/views/format.js";
import { widthOf } from "../../src/views/layout.js";
import { screenLines } from "../../src/views/watch/screen.js";
import { NOTHING_YET, type WatchState } from "../../src/views/watch/state.js";
import { row as glance, watching } from "./rows.js";

const styled = (useColor: boolean, useEmoji = true) => ({
  paint: createFormatter({ useColor, useEmoji }).paint,
  useEmoji,
});
const PLAIN = styled(false);

const ROWS = [
  glance({ name: "auth", lastLine: "tests pass", tags: ["web", "api"] }),
  glance({
    name: "20260101-093000-ab12",
    kind: "run",
    status: "stopped",
    reason: "max_iterations",
    iteration: 10,
    activeMs: 7_512_000,
    costUsd: null,
    lastLine: "日本語のとても長い行です、まだまだ続きます",
  }),
  glance({ name: "odd", status: "unknown", costUsd: null, lastLine: "", startedAt: null }),
];

test("80 columns show everything, and more about the selected row", () => {
  expect(screenLines(watching(ROWS), { columns: 80, rows: 13 }, PLAIN)).toEqual([
    "ralph watch · 1 running · 1 unknown · 1 stopped",
    "  NAME                  STATUS    ITER    TIME   COST  LAST LINE",
    "❯ auth                  running   3/10    6m7s  $1.20  tests pass",
    "  odd                   unknown      -       -      -",
    "  20260101-093000-ab12  stopped  10/10    2h5m      -  日本語のとても長い行で…",
    "",
    "",
    "",
    "",
    "",
    "auth · $1.20 · prompt · web, api · /work",
    "tests pass",
    "a attach  l logs  p pause  r resume  K kill  f filter  / search  ? help  q quit",
  ]);
});

describe("whatever the size", () => {
  const hostile = glance({
    name: `\u001b[2J${"名".repeat(60)}`,
    lastLine: `\u001b]0;x\u0007👩\u200d👧${"\u0301".repeat(99)}\r\n${"界".repeat(300)}`,
    workspace: "/w\nx",
    iteration: Number.NaN,
    activeMs: -1,
    costUsd: Number.POSITIVE_INFINITY,
  });
  const many = Array.from({ length: 200 }, (_, index) => glance({ name: `worker-${index}` }));
  const modes: Partial<WatchState>[] = [
    {},
    { mode: { kind: "help" } },
    { mode: { kind: "confirm", name: hostile.name } },
    { mode: { kind: "filter" }, filter: { status: undefined, text: "w" } },
    { message: { text: "x\ny".repeat(200), isError: true } },
    { trouble: "z".repeat(500) },
  ];
  const sizes = [12, 20, 40, 41, 79, 80, 200].flatMap((columns) =>
    [1, 2, 3, 5, 8, 12, 24, 50].map((rows) => ({ columns, rows })),
  );

  test.each([PLAIN, styled(false, false)])("each row of the terminal has a line that fits", (style) => {
    for (const rows of [[], ROWS, [hostile], [hostile, ...many]])
      for (const mode of modes)
        for (const size of sizes) {
          const lines = screenLines(watching(rows, mode), size, style);
          expect(lines.length).toBe(size.rows);
          expect(Math.max(...lines.map((line) => widthOf(line)))).toBeLessThan(size.columns);
          // biome-ignore lint/suspicious/noControlCharactersInRegex: they must not be there
          expect(lines.join("")).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
        }
  });

  test.each([
    [0, 0],
    [100, 91],
    [199, 182],
  ])("of 200 rows those around the selected one are shown (%i: from %i)", (index, first) => {
    const watched = watching(many, { selected: { id: "", index } });
    const lines = screenLines(watched, { columns: 80, rows: 24 }, PLAIN).slice(2, -4);
    const names = watched.rows?.map(({ name }) => name).sort() ?? [];
    expect(lines.map((line) => line.slice(2, 12).trim())).toEqual(names.slice(first, first + lines.length));
    expect(lines.findIndex((line) => line.startsWith("❯"))).toBe(index - first);
  });
});

describe("in place of rows", () => {
  test.each<[string, WatchState, string[]]>([
    ["nothing was seen yet", NOTHING_YET, ["Looking..."]],
    ["nothing is there", watching([]), ["Nothing is running; start one with", "ralph spawn."]],
    [
      "nothing matches",
      watching(ROWS, { filter: { status: "failed", text: "x" } }),
      ["Nothing matches the filter; Esc shows", "all."],
    ],
  ])("%s", (_, watched, said) => {
    const lines = screenLines(watched, { columns: 40, rows: 10 }, PLAIN).slice(1, -1);
    expect(lines.filter((line) => line !== "")).toEqual(said);
  });

  test("the help names every key", () => {
    const lines = screenLines(watching(ROWS, { mode: { kind: "help" } }), { columns: 40, rows: 24 }, PLAIN);
    const keys = ["j k,", "a, Enter", "l", "p", "r", "K", "f", "/", "?", "q"];
    expect(keys.filter((key) => !lines.some((line) => line.startsWith(`${key} `)))).toEqual(["?"]);
    expect(lines.at(-1)).toBe("any key goes back");
  });
});

describe("the last line", () => {
  test.each<[Partial<WatchState>, string]>([
    [{ mode: { kind: "confirm", name: "auth" } }, "Kill auth? (y/N)"],
    [{ mode: { kind: "filter" }, filter: { status: undefined, text: "we" } }, "/we_"],
    [{ message: { text: "paused auth", isError: false } }, "paused auth"],
    [{ message: { text: "", isError: false } }, "a attach  l logs  ? help  q quit"],
  ])("%j is %j", (parts, line) => {
    expect(screenLines(watching(ROWS, parts), { columns: 40, rows: 5 }, PLAIN).at(-1)).toBe(line);
  });
});

describe("the title", () => {
  test.each<[Partial<WatchState>, string]>([
    [
      { filter: { status: "running", text: "" } },
      "ralph watch · only running · 1 running · 1 unknown · 1 stopped",
    ],
    [
      { filter: { status: "running", text: "we" } },
      'ralph watch · only running with "we" · 1 running · 1 unknown · 1 stopped',
    ],
  ])("%j is %j", (parts, line) => {
    expect(screenLines(watching(ROWS, parts), { columns: 80, rows: 8 }, PLAIN)[0]).toBe(line);
  });

  test("says why nothing new is to be seen, above the rows that are known", () => {
    const blind = { ...watching(ROWS), trouble: "no\u001b[2J home" };
    const lines = screenLines(blind, { columns: 80, rows: 8 }, PLAIN);
    expect([lines[0], lines[2]?.slice(0, 6)]).toEqual(["cannot look: no home", "❯ auth"]);
  });
});
