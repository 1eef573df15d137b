import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadCompiled } from "../../src/hooks/compiled.cjs";
import { temporaryFolder } from "../kit.js";

const ROOT = join(import.meta.dirname, "../..");

describe("a file of the build that is compiled once", () => {
  const source = (value: number): string =>
    `(function (exports, require) { exports.value = () => ${value}; })`;
  const load = (file: string, digest: string) => loadCompiled<{ value(): number }>(file, digest, ROOT);

  it("is kept as it was compiled, by what it says", () => {
    const folder = temporaryFolder();
    const file = join(folder, "x.cjs");
    const kept = (): string[] => readdirSync(folder).filter((name) => name.endsWith(".cache"));
    for (const [digest, value] of [
      ["aaaa", 1],
      ["aaaa", 1],
      ["bbbb", 2],
    ] as const) {
      writeFileSync(file, source(value));
      const { exports, keep } = load(file, digest);
      expect(exports.value()).toBe(value);
      keep(() => exports.value());
    }
    const about = `${process.version}-${process.arch}.cache`;
    expect(readdirSync(folder).sort()).toEqual([
      "x.cjs",
      ...["aaaa", "bbbb"].map((of) => `x.cjs.${of}.${about}`),
    ]);
    expect(kept().map((name) => readFileSync(join(folder, name)).length > 100)).toEqual([true, true]);
  });
});

describe("the guard's hook in the package", () => {
  it("is one file that loads nothing but Node's own modules, with the licence of what is in it", () => {
    const text = readFileSync(join(ROOT, "dist/hooks/guard-call.cjs"), "latin1");
    const loaded = [...text.matchAll(/\brequire\("([^"]+)"\)/g)].map((match) => match[1]);
    expect(loaded.filter((name) => !name?.startsWith("node:"))).toEqual([]);
    expect(text).toContain("Copyright (c) Lars Kappert");
    expect(/[^\0-\x7f]/.test(text)).toBe(false);
  });
});
