import { describe, expect, test } from "vitest";
import type { Key } from "../../src/views/watch/keys.js";
import {
  type AfterKey,
  type Intent,
  press,
  selectedRow,
  shownRows,
  type WatchState,
  withRows,
} from "../../src/views/watch/state.js";
import { row as glance, watching } from "./rows.js";

const ROWS = [
  glance({ name: "old", status: "stopped", startedAt: "2026-01-01T08:00:00.000Z", reason: "max_iterations" }),
  glance({ name: "first", startedAt: "2026-01-01T09:00:00.000Z", tags: ["Web"] }),
  glance({ name: "broken", status: "unknown", startedAt: null }),
  glance({ name: "second", status: "paused", startedAt: "2026-01-01T10:00:00.000Z" }),
];

/** Presses keys one after the other. */
function afterKeys(keys: Key[], start: WatchState = watching(ROWS)): AfterKey {
  return keys.reduce<AfterKey>(({ state }, key) => press(state, key), { state: start });
}

function namesShown(watched: WatchState): string[] {
  return shownRows(watched).map(({ name }) => name);
}

test("what is at work stands first, what has ended last, the newest of each first", () => {
  expect(namesShown(watching(ROWS))).toEqual(["second", "first", "broken", "old"]);
});

describe("selecting", () => {
  test.each<[Key[], string]>([
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
      ROWS.map((row) => (row.name === "first" ? glance({ ...row, status: "failed" }) : row)),
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
  test.each<[Key[], Intent | undefined]>([
    [["a"], { action: "attach", name: "second" }],
    [["return"], { action: "attach", name: "second" }],
    [["j", "p"], { action: "pause", name: "first" }],
    [["r"], { action: "resume", name: "second" }],
    [["l"], { action: "logs", name: "second" }],
    [["K"], undefined],
    [["K", "y"], { action: "kill", name: "second" }],
    [["K", "n"], undefined],
    [["K", { pasted: "y" }], undefined],
    [[{ pasted: "Ky" }], undefined],
    [["?", "K", "y"], undefined],
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

  test.each(["a", "enter", "p", "r", "l", "K"])("%s wants nothing where nothing is", (key) => {
    const { state: watched, intent } = afterKeys([key, "y"], watching([]));
    expect({ mode: watched.mode, intent }).toEqual({ mode: { kind: "list" }, intent: undefined });
  });

  test("the one that was asked about is killed, whoever is selected by then", () => {
    const asked = afterKeys(["K"]).state;
    const moved = withRows(
      asked,
      ROWS.filter(({ name }) => name !== "second"),
    );
    expect(press(moved, "y").intent).toEqual({ action: "kill", name: "second" });
  });

  test("a message is there until the next key", () => {
    const said = { ...watching(ROWS), message: { text: "paused", isError: false } };
    expect(press(said, "j").state.message).toBeUndefined();
    expect(afterKeys(["K", "n"]).state.message).toEqual({ text: "second was not killed", isError: false });
  });
});

describe("filtering", () => {
  test.each<[Key[], string[]]>([
    [["f"], ["first"]],
    [
      ["f", "escape"],
      ["second", "first", "broken", "old"],
    ],
    [["/", "w", "E", "b"], ["first"]],
    [["/", "m", "a", "x", "_"], ["old"]],
    [["/", { pasted: "broken" }], ["broken"]],
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
