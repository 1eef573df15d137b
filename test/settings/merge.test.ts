import { expect, test } from "vitest";
import { deepMerge } from "../../src/settings/merge.js";

const MERGES: [base: unknown, overlay: unknown, merged: unknown][] = [
  [{ a: 1 }, { a: 2 }, { a: 2 }],
  [{ a: { b: 1, c: 2 } }, { a: { c: 3, d: 4 } }, { a: { b: 1, c: 3, d: 4 } }],
  [{ a: [1, 2, 3] }, { a: [4] }, { a: [4] }],
  [{ a: [{ b: 1 }] }, { a: [{ c: 2 }] }, { a: [{ c: 2 }] }],
  [{ a: { b: 1 } }, { a: 5 }, { a: 5 }],
  [{ a: { b: 1 } }, { a: null }, { a: null }],
  [
    { agent: { command: "claude", flags: ["--model opus"] } },
    { agent: { flags: ["--verbose"] } },
    { agent: { command: "claude", flags: ["--verbose"] } },
  ],
];

test.each(MERGES)("%j under %j is %j", (base, overlay, merged) => {
  expect(deepMerge(base, overlay)).toEqual(merged);
});

test("no key pollutes a prototype, neither Object's nor the result's", () => {
  const merged = deepMerge(
    { a: {} },
    JSON.parse('{"__proto__":{"x":1},"a":{"__proto__":{"x":1}}}'),
  ) as object;
  expect([Reflect.get({}, "x"), Object.getPrototypeOf(merged)]).toEqual([undefined, Object.prototype]);
  expect(Object.getPrototypeOf(Reflect.get(merged, "a"))).toBe(Object.prototype);
});
