import { expect, it } from "vitest";
import { PREDICATES } from "../../src/guard/rows.js";
import { RULES } from "../../src/guard/rules.js";
import { namesIn, rowsIn } from "../../src/guard/text.js";

const TABLE = `
  timeout|gtimeout 1 -s -k
  nohup
  git a
  git b
`;

it("a table has the words after a name, for each line that has it among its first", () => {
  expect(
    ["timeout", "gtimeout", "nohup", "git", "-s", "1", "time", ""].map((name) => rowsIn(TABLE, name)),
  ).toEqual([[["1", "-s", "-k"]], [["1", "-s", "-k"]], [[]], [["a"], ["b"]], ...Array(4).fill([])]);
  const names = namesIn("\n  cat cats\n  [ ");
  expect(["cat", "cats", "[", "ca", "", "cat cats", "constructor"].map((name) => names.has(name))).toEqual([
    ...[true, true, true],
    ...[false, false, false, false],
  ]);
});

const CONDITIONS = Object.values(RULES).flatMap((text) =>
  text
    .replace(/\s=\?? .*\n/g, ", ")
    .split(/,\s+/)
    .flatMap((command) => command.trim().split(" ").slice(1)),
);

it("each condition of the rules names a predicate that there is, or is an expression that can be made", () => {
  const used = CONDITIONS.filter((condition) => /^!?@/.test(condition)).map((condition) =>
    condition.replace(/^!?@/, ""),
  );
  expect([...new Set(used)].sort()).toEqual(Object.keys(PREDICATES).sort());
  const sources = CONDITIONS.flatMap(
    (condition) => /^!?(?:[-\w|]*~{1,2}|(?=\^))(.+)$/s.exec(condition)?.[1] ?? [],
  );
  expect(sources.length).toBeGreaterThan(40);
  for (const source of sources) expect(() => new RegExp(source)).not.toThrow();
});
