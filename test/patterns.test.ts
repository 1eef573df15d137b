import { describe, expect, it } from "vitest";
import { compilePatterns } from "../src/patterns.js";

describe("patterns of files", () => {
  it.each<[pattern: string, yes: string[], no: string[]]>([
    ["tests/**", ["tests", "tests/a", "tests/a/.b"], ["testsx", "x/tests/a"]],
    ["tests", ["tests", "tests/a/b"], ["tests.md"]],
    ["prd.md", ["prd.md"], ["prdxmd", "docs/prd.md"]],
    ["*.md", ["a.md", ".md"], ["x/a.md", "a.mdx"]],
    ["**/*.test.ts", ["a.test.ts", "x/y/a.test.ts"], ["a.test.tsx"]],
    ["src/[a-c]?/{one,two}.ts", ["src/ax/one.ts", "src/cy/two.ts"], ["src/dx/one.ts", "src/a/one.ts"]],
    ["a{*,b?}c", ["axxc", "abxc"], ["a/c"]],
    ["a+(b)", ["a+(b)"], ["aab"]],
    ["app/(group)/[id]", ["app/(group)/[id]/page.tsx"], ["app/group/x"]],
    ["**", ["a", "a/b"], []],
  ])("%s", (pattern, yes, no) => {
    const { match } = compilePatterns([pattern]);
    expect([yes.filter((path) => !match(path)), no.filter(match)]).toEqual([[], []]);
  });

  it("are looked for in as few places as possible", () => {
    expect(compilePatterns(["src/a/*.ts", "src/**", "docs/x.md", "src/b"]).roots).toEqual([
      "src",
      "docs/x.md",
    ]);
    expect(compilePatterns(["tests/**", "*.md"]).roots).toEqual([""]);
  });
});
