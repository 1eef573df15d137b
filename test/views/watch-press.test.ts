import { describe, expect, test } from "vitest";
import {
  type AfterKey,
  type KeyIntent,
  moved,
  press,
  selectedRow,
  shownRows,
  type WatchState,
} from "../../src/views/watch/state.js";
import { row as glance, watching } from "./rows.js";

const ROWS = [
  glance({ name: "old", status: "stopped", startedAt: "2026-01-01T08:00:00.000Z", reason: "max_iterations" }),
  glance({ name: "first", startedAt: "2026-01-01T09:00:00.000Z", tags: ["Web"] }),
  glance({ name: "broken", status: "unknown", startedAt: null }),
  glance({ name: "second", status: "paused", startedAt: "2026-01-01T10:00:00.000Z" }),
];
const ASKING = watching([glance({ question: "which one?" })]);

function withRows(state: WatchState, rows: typeof ROWS): WatchState {
  return moved({ ...state, rows }, 0);
}

/** Presses keys one after the other. */
function afterKeys(keys: string[], start: WatchState = watching(ROWS)): AfterKey {
  return keys.reduce<AfterKey>(
    ({ state }, key) => press(state, key.replace("pasted ", ""), key.startsWith("pasted ")),
    { state: start },
  );
}

function namesShown(watched: WatchState): string[] {
  return shownRows(watched).map(({ name }) => name);
}

test("active loops stand first, ended ones last, the newest of each first", () => {
  expect(namesShown(watching(ROWS))).toEqual(["second", "first", "broken", "old"]);
});

describe("selecting", () => {
  test.each<[string[], string]>([
    [[], "second"],
    [["j"], "first"],
    [["down", "down"], "broken"],
    [["up"], "second"],
    [["G"], "old"],
    [["G", "g"], "second"],
    [["pagedown"], "old"],
  ])("%j comes to %s", (keys, name) => {
    expect(selectedRow(afterKeys(keys).state)?.name).toBe(name);
  });

  test("follows its row when the order changes, and stays in place when the row goes away", () => {
    const { state: watched } = afterKeys(["j"]);
    const stopped = withRows(
      watched,
      ROWS.map((row) => (row.name === "first" ? glance({ ...row, status: "failed", result: "stuck" }) : row)),
    );
    expect(namesShown(stopped)).toEqual(["second", "broken", "first", "old"]);
    expect(selectedRow(stopped)?.name).toBe("first");
    const gone = withRows(
      stopped,
      ROWS.filter(({ name }) => name !== "first"),
    );
    expect(selectedRow(gone)?.name).toBe("old");
    expect(selectedRow(withRows(gone, []))).toBeUndefined();
  });

  test("a worker and a run of the same name are two", () => {
    const both = [glance({ kind: "run" }), glance({ kind: "worker", iteration: 9 })];
    expect(selectedRow(afterKeys(["j"], watching(both)).state)?.kind).toBe("worker");
  });
});

describe("asking", () => {
  test.each<[string[], KeyIntent | undefined]>([
    [["return"], { action: "attach", name: "second" }],
    [["j", "p"], { action: "pause", name: "first" }],
    [["r"], { action: "resume", name: "second" }],
    [["R"], { page: "report", name: "second" }],
    [["j", "d"], { page: "diff", name: "first" }],
    [["l"], undefined],
    [["a"], undefined],
    [["s", "g", "o", "return"], { action: "steer", name: "second", text: "go" }],
    [["s", "g", "pasted return", "pasted q", "return"], { action: "steer", name: "second", text: "g q" }],
    [["s", " ", "return"], undefined],
    [["s", "g", "escape"], undefined],
    [["s", "ctrl+c"], "interrupted"],
    [["K"], undefined],
    [["K", "y"], { action: "kill", name: "second" }],
    [["K", "n"], undefined],
    [["K", "pasted y"], undefined],
    [["pasted K", "y"], undefined],
    [["?", "K", "y"], undefined],
    [["?", "q"], "quit"],
    [["K", "q"], "quit"],
    [["l", "q"], "quit"],
    [["l", "escape", "p"], { action: "pause", name: "second" }],
    [["/", "K", "y", "q"], undefined],
    [["x"], undefined],
    [["q"], "quit"],
    [["ctrl+c"], "interrupted"],
    [["K", "ctrl+c"], "interrupted"],
    [["ctrl+z"], "suspend"],
    [["ctrl+l"], "forget"],
  ])("%j wants %j", (keys, intent) => {
    expect(afterKeys(keys).intent).toEqual(intent);
  });

  test.each(["a", "s", "enter", "p", "r", "l", "K", "R", "d"])("%s wants nothing where nothing is", (key) => {
    const { state: watched, intent } = afterKeys([key, "y"], watching([]));
    expect({ mode: watched.mode, intent }).toEqual({ mode: { kind: "list" }, intent: undefined });
  });

  test("ralph kills the loop that it asked about, whichever is selected by then", () => {
    const asked = afterKeys(["K"]).state;
    const gone = withRows(
      asked,
      ROWS.filter(({ name }) => name !== "second"),
    );
    expect(press(gone, "y").intent).toEqual({ action: "kill", name: "second" });
  });

  test("a message is there until the next key", () => {
    const said = { ...watching(ROWS), message: { text: "paused", isError: false } };
    expect(press(said, "j").state.message).toBeUndefined();
    expect(afterKeys(["K", "n"]).state.message).toEqual({ text: "second was not killed", isError: false });
  });
});

test("a question is answered, and who has not asked is not", () => {
  const { intent } = afterKeys(["a", "S", "Q", "x", "backspace", "L", "return"], ASKING);
  expect(intent).toEqual({ action: "answer", name: "auth", text: "SQL" });
  expect(afterKeys(["a"]).state.message).toEqual({
    text: "second has asked nothing; s steers it",
    isError: true,
  });
});

describe("a page", () => {
  const lines = Array.from({ length: 30 }, (_, line) => `line ${line}`);
  const text = watching(ROWS, { mode: { kind: "page", title: "diff of auth", lines, at: 0 } });
  const log = watching(ROWS, {
    mode: { kind: "page", title: "log of auth", lines: undefined, at: 0 },
    live: { run: "", lines, checks: [] },
  });

  test.each<[string, WatchState, string[], number]>([
    ["begins at its first line", text, [], 0],
    ["is read downwards", text, ["j", "pagedown"], 11],
    ["ends at its last line", text, ["G", "j"], 29],
    ["begins at the end where it is a log", log, [], 0],
    ["is read upwards where it is a log", log, ["k", "pageup"], 11],
    ["goes back to what comes", log, ["g", "G"], 0],
  ])("%s", (_, start, keys, at) => {
    expect(afterKeys(keys, start).state.mode).toMatchObject({ kind: "page", at });
  });

  test("is left by Esc", () => {
    expect(afterKeys(["escape"], text).state.mode).toEqual({ kind: "list" });
  });
});

describe("filtering", () => {
  test.each<[string[], string[]]>([
    [["f"], ["first"]],
    [
      ["f", "escape"],
      ["second", "first", "broken", "old"],
    ],
    [["/", "w", "E", "b"], ["first"]],
    [["/", "m", "a", "x", "_"], ["old"]],
    [["/", "pasted b", "pasted r", "o"], ["broken"]],
    [["/", "z"], []],
    [
      ["/", "z", "escape"],
      ["second", "first", "broken", "old"],
    ],
    [["/", "s", "e", "c", "enter", "j"], ["second"]],
    [["f", "/", "s", "e", "c"], []],
  ])("%j leaves %j", (keys, names) => {
    expect(namesShown(afterKeys(keys).state)).toEqual(names);
  });

  test("selects the first row where the selected one is left out", () => {
    expect(selectedRow(afterKeys(["G", "f", "f"]).state)?.name).toBe("second");
    expect(selectedRow(afterKeys(["j", "/", "f", "i", "escape"]).state)?.name).toBe("first");
  });
});
