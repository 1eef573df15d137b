import { describe, expect, test } from "vitest";
import { createFormatter } from "../../src/views/figures.js";
import { widthOf } from "../../src/views/layout.js";
import type { Live } from "../../src/views/watch/live.js";
import { screenLines } from "../../src/views/watch/screen.js";
import { NOTHING_YET, type WatchState } from "../../src/views/watch/state.js";
import { row as glance, watching } from "./rows.js";

const styled = (useColor: boolean, useEmoji = true) => createFormatter({ useColor, useEmoji });
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

const LIVE: Live = {
  run: "20260101-100000-ab12",
  lines: [
    "--- Iteration 3/10 ---",
    "\u001b[1mI read\u001b[22m the tests",
    `\tlong ${"word ".repeat(30)}`,
    "last",
  ],
  checks: [
    { command: "npm test", passed: true, skipped: null },
    { command: "npm run lint", passed: false, skipped: null },
  ],
};

test("80 columns show the list above, and the selected one live below", () => {
  expect(screenLines(watching(ROWS, { live: LIVE }), { columns: 80, rows: 15 }, PLAIN)).toEqual([
    "ralph watch · 1 running · 1 unknown · 1 stopped",
    "  NAME                  STATUS                ITER    TIME   COST  LAST LINE",
    "❯ auth                  running               3/10    6m7s  $1.20  tests pass",
    "  odd                   unknown                  -       -      -",
    "  20260101-093000-ab12  stopped: iterations  10/10    2h5m      -  日本語のと…",
    "─".repeat(79),
    "auth · running · 3/10 · 6m7s · $1.20",
    "prompt · web, api · /work",
    "checks: ✓ npm test  ✗ npm run lint",
    "--- Iteration 3/10 ---",
    "\u001b[1mI read\u001b[22m the tests",
    `    long ${"word ".repeat(14)}`,
    "word ".repeat(16).trimEnd(),
    "last",
    "a answer  s steer  p pause  r resume  K kill  R report  d diff  q quit  ? help",
  ]);
});

test("140 columns show both side by side, with a question", () => {
  const asking = glance({ status: "failed", reason: "blocked", question: "Which database do you want?" });
  const lines = screenLines(watching([asking], { live: LIVE }), { columns: 140, rows: 14 }, PLAIN);
  expect(lines.slice(0, 5)).toEqual([
    "ralph watch · 1 blocked",
    `  NAME  STATUS              ITER    TIME   COST  LAST LINE           │ auth · blocked: question · 3/10 · 6m7s · $1.20`,
    `❯ auth  blocked: question   3/10    6m7s  $1.20  tests pass          │ prompt · /work`,
    `${" ".repeat(68)} │ checks: ✓ npm test  ✗ npm run lint`,
    `${" ".repeat(68)} │ asks: Which database do you want? (a answers)`,
  ]);
  expect(lines.at(-1)).toContain("l log  f filter  / search");
});

test("of another run that is still shown nothing is taken for the selected one's", () => {
  const lines = screenLines(
    watching(ROWS, { live: { ...LIVE, run: "x" } }),
    { columns: 80, rows: 16 },
    PLAIN,
  );
  expect(lines.join("\n")).not.toContain("I read");
});

test("a page fills the screen, a log with what came last", () => {
  const page = (lines: string[] | undefined, at: number) =>
    screenLines(
      watching(ROWS, { live: LIVE, mode: { kind: "page", title: "diff of auth", lines, at } }),
      { columns: 40, rows: 5 },
      PLAIN,
    );
  expect(page(["+a", "-b", " c"], 1)).toEqual([
    "ralph watch · diff of auth",
    "-b",
    " c",
    "",
    "Esc back  q quit  j k, PgUp PgDn, g G…",
  ]);
  expect(page(undefined, 0).slice(1, 4).at(-1)).toBe("last");
  expect(page(undefined, 2).slice(1, 4)).toEqual([
    "--- Iteration 3/10 ---",
    expect.stringContaining("I read"),
    "",
  ]);
});

describe("whatever the size", () => {
  const hostile = glance({
    name: `\u001b[2J${"名".repeat(60)}`,
    lastLine: `\u001b]0;x\u0007👩\u200d👧${"\u0301".repeat(99)}\r\n${"界".repeat(300)}`,
    workspace: "/w\nx",
  });
  const many = Array.from({ length: 200 }, (_, index) => glance({ name: `worker-${index}` }));
  const modes: Partial<WatchState>[] = [
    {},
    { mode: { kind: "help" } },
    { mode: { kind: "confirm", name: hostile.name } },
    { mode: { kind: "filter" }, filter: { status: undefined, text: "w" } },
    { message: { text: "x\ny".repeat(200), isError: true } },
    { trouble: "z".repeat(500) },
    { live: { ...LIVE, lines: ["界".repeat(300), "\t\tx", ""] } },
    { mode: { kind: "page", title: hostile.name, lines: ["界".repeat(300), "\t\tx"], at: 0 } },
    { mode: { kind: "page", title: "log", lines: undefined, at: 9 } },
    { mode: { kind: "type", action: "answer", name: hostile.name, text: "界".repeat(90) } },
  ];
  const sizes = [12, 41, 80, 200].flatMap((columns) => [1, 3, 8, 24].map((rows) => ({ columns, rows })));

  test.each([PLAIN, styled(false, false)])("each row of the terminal has a line that fits", (style) => {
    for (const rows of [[], ROWS, [hostile], [hostile, ...many.slice(0, 60)]])
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
    [100, 95],
    [199, 190],
  ])("of 200 rows those around the selected one are shown (%i: from %i)", (index, first) => {
    const watched = watching(many, { selected: { id: "", index } });
    const lines = screenLines(watched, { columns: 80, rows: 24 }, PLAIN).slice(2, 12);
    const names = watched.rows?.map(({ name }) => name).sort() ?? [];
    expect(lines.map((line) => line.slice(2, 12).trim())).toEqual(names.slice(first, first + lines.length));
    expect(lines.findIndex((line) => line.startsWith("❯"))).toBe(index - first);
  });
});

describe("in place of rows", () => {
  test.each<[string, WatchState, string[]]>([
    ["nothing was seen yet", NOTHING_YET, ["Looking..."]],
    ["nothing is there", watching([]), ["No loop runs, and none ended today.", "Start one: ralph spawn"]],
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
    const keys = ["j k,", "Enter", "a", "s", "l", "p", "r", "K", "R", "d", "f", "/", "?", "q"];
    expect(keys.filter((key) => !lines.some((line) => line.startsWith(`${key} `)))).toEqual(["?"]);
    expect(lines.at(-1)).toBe("q quit, any other key goes back");
  });
});

describe("the last line", () => {
  test.each<[Partial<WatchState>, string]>([
    [{ mode: { kind: "confirm", name: "auth" } }, "Kill auth? (y/N)"],
    [{ mode: { kind: "filter" }, filter: { status: undefined, text: "we" } }, "/we_"],
    [{ message: { text: "paused auth", isError: false } }, "paused auth"],
    [{ mode: { kind: "type", action: "steer", name: "auth", text: "go" } }, "Steer auth: go_"],
    [{ message: { text: "", isError: false } }, "a answer  s steer  p pause  r resume…"],
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
