import fc from "fast-check";
import { expect, test } from "vitest";
import { deepMerge } from "../../src/settings/merge.js";

const MERGES: [base: unknown, overlay: unknown, merged: unknown][] = [
  [{ a: 1 }, { a: 2 }, { a: 2 }],
  [{ a: 1 }, { b: 2 }, { a: 1, b: 2 }],
  [{ a: { b: 1, c: 2 } }, { a: { c: 3, d: 4 } }, { a: { b: 1, c: 3, d: 4 } }],
  [{ a: [1, 2, 3] }, { a: [4] }, { a: [4] }],
  [{ a: [{ b: 1 }] }, { a: [{ c: 2 }] }, { a: [{ c: 2 }] }],
  [{ a: { b: 1 } }, { a: 5 }, { a: 5 }],
  [{ a: 5 }, { a: { b: 1 } }, { a: { b: 1 } }],
  [{ a: { b: 1 } }, { a: null }, { a: null }],
  [{ a: { b: 1 } }, { a: [] }, { a: [] }],
  [{ a: 1 }, {}, { a: 1 }],
  [
    { agent: { command: "claude", flags: ["--model opus"] } },
    { agent: { flags: ["--verbose"] } },
    { agent: { command: "claude", flags: ["--verbose"] } },
  ],
];

test.each(MERGES)("%j under %j is %j", (base, overlay, merged) => {
  expect(deepMerge(base, overlay)).toEqual(merged);
});

const key = fc.constantFrom("a", "b", "__proto__", "constructor", "prototype", "toString");
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    fc.integer(),
    fc.array(tie("tree"), { maxLength: 3 }),
    // As JSON.parse makes them: `__proto__` is a key like any other.
    fc
      .array(fc.tuple(key, tie("tree")), { maxLength: 4 })
      .map((entries) =>
        JSON.parse(`{${entries.map(([name, value]) => `"${name}":${JSON.stringify(value)}`).join(",")}}`),
      ),
  ),
}));

test("no key pollutes a prototype, neither Object's nor the result's", () => {
  const clean = Object.getOwnPropertyNames(Object.prototype);
  fc.assert(
    fc.property(tree, tree, (base, overlay) => {
      const merged = deepMerge(base, overlay);
      expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(clean);
      expect(
        prototypesIn(merged).filter((one) => one !== Object.prototype && one !== Array.prototype),
      ).toEqual([]);
    }),
  );
});

test("neither side is changed", () => {
  fc.assert(
    fc.property(tree, tree, (base, overlay) => {
      const before = JSON.stringify([base, overlay]);
      deepMerge(base, overlay);
      expect(JSON.stringify([base, overlay])).toBe(before);
    }),
  );
});

function prototypesIn(value: unknown): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  const inner = Reflect.ownKeys(value)
    .map((name) => Object.getOwnPropertyDescriptor(value, name)?.value as unknown)
    .flatMap(prototypesIn);
  return [Object.getPrototypeOf(value), ...inner];
}
