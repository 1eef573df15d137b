import { describe, expect, it } from "vitest";
import { beginsAs, list, namesIn, rowOf } from "../../src/guard/list.js";
import { findListed } from "../../src/guard/listed-paths.js";
import { PROTECTED } from "../../src/guard/protected-list.js";
import { SECRETS } from "../../src/guard/secret-list.js";

describe("names in a text", () => {
  const names = namesIn(`
    cat cats
    [ bin/rails
  `);

  it.each(["cat", "cats", "[", "bin/rails"])("has %s", (name) => {
    expect(names.has(name)).toBe(true);
  });

  it.each(["", "ca", "ats", "cat cats", "cats\n    [", "rails", " cat"])("has no %j", (name) => {
    expect(names.has(name)).toBe(false);
  });
});

describe("a table", () => {
  const TABLE = `
  timeout 1 -s -k
  nohup
  fly destroy app+destroy
`;

  it("has a row for each name at the beginning of a line", () => {
    expect(
      ["timeout", "nohup", "fly", "destroy", "-s", "1", "time", "timeout 1"].map((name) =>
        rowOf(TABLE, name),
      ),
    ).toEqual([["1", "-s", "-k"], [], ["destroy", "app+destroy"], ...Array(5).fill(undefined)]);
  });

  it.each([
    ["fly", ["destroy", "x"], true],
    ["fly", ["app", "destroy"], true],
    ["fly", ["app", "list", "destroy"], false],
    ["fly", ["destroyed"], false],
    ["fly", [], false],
    ["nohup", [], true],
    ["other", ["destroy"], false],
  ])("says whether the words after %s begin as it tells: %j", (program, words, begins) => {
    expect(beginsAs(TABLE, program, words)).toBe(begins);
  });
});

describe("paths on a list", () => {
  const HOME = "/home/somebody";
  const all = [...PROTECTED, ...SECRETS].flatMap((group) =>
    list(group.patterns).map((pattern) => ({ pattern, group })),
  );
  /** A path that fits a pattern. */
  const example = (pattern: string): string =>
    pattern
      .replace(/^\*\*/, "/some/where")
      .replace(/\*\*$/, "in/side")
      .replace("~", HOME)
      .replaceAll("*", "any")
      .replaceAll("?", " ");

  it("are found by each of its patterns, in whatever case they are written", () => {
    const missed = all
      .filter(
        ({ pattern, group }) =>
          findListed([group], example(pattern).toUpperCase(), HOME.toUpperCase()) !== group,
      )
      .map(({ pattern }) => pattern);
    expect(all.length).toBeGreaterThan(150);
    expect(missed).toEqual([]);
  });

  it("are in lower case, as they are compared", () => {
    expect(all.filter(({ pattern }) => pattern !== pattern.toLowerCase())).toEqual([]);
  });

  it.each(["/srv/app/src/main.ts", "/home/somebody/app/run", "/data/app/profile.ts"])(
    "are not %s",
    (path) => {
      expect(findListed(SECRETS, path, HOME)).toBeUndefined();
    },
  );
});
