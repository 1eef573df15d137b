import { describe, expect, it } from "vitest";
import { donePattern } from "../../src/verify/pattern.js";

describe("a done pattern, as Python reads it", () => {
  it.each<[string, string, string | null]>([
    ["All tasks complete", "x All tasks complete.", "All tasks complete"],
    [
      "IMPLEMENTATION_PLAN.md.*100%",
      "IMPLEMENTATION_PLAN.md is at 100%",
      "IMPLEMENTATION_PLAN.md is at 100%",
    ],
    ["No remaining tasks|All done", "All done", "All done"],
    ["^DONE$", "a\nDONE\nb", "DONE"],
    ["^DONE$", "a DONE", null],
    ["COMPLETE", "complete", null],
    ["(?i)complete", "COMPLETE", "COMPLETE"],
    ["(?i)straße", "STRASSE", null],
    ["a.b", "a\nb", null],
    ["a.b", "a\rb", "a\rb"],
    [".*b", "x\nab", "ab"],
    [".+?b", "bab", "bab"],
    ["(?s).*b", "x\nab\nc", "x\nab"],
    [".*x|b", "ab", "b"],
    ["(?s)a.b", "a\nb", "a\nb"],
    ["(?m)^b", "a\nb", "b"],
    ["(?ims)^A.b", "x\na\nB", "a\nB"],
    ["(?u)é", "é", "é"],
    ["(?x) all \\  done # in words\n !", "all done!", "all done!"],
    ["(?x) all done", "all done", null],
    ["(?i)(?#why)(?s)A.b", "a\nB", "a\nB"],
    ["(?x) all [ ] done # in words\n !", "all done!", "all done!"],
    ["(?P<w>ab)-(?P=w)", "ab-ab", "ab-ab"],
    ["(?P<w>ab|cd)-(?P=w)", "ab-cd", null],
    ["(?<w>ab)-\\k<w>", "ab-ab", "ab-ab"],
    ["(?P<größe>a)(?P=größe)", "aa", "aa"],
    ["(a)(b)\\2\\1", "abba", "abba"],
    ["\\ADONE", "DONE\nx", "DONE"],
    ["\\ADONE", "x\nDONE", null],
    ["DONE\\Z", "x\nDONE", "DONE"],
    ["DONE\\Z", "DONE\nx", null],
    ["\\w*\\Z", "B🎉b", "b"],
    ["a(?#why, oh [why)b", "ab", "ab"],
    ["a(?#note)+", "aaa", "aaa"],
    ["(?:ab)+(?=c)(?!d)(?<=b)(?<!x)", "ababc", "abab"],
    ["a{,2}b", "aaab", "aab"],
    ["a{2,}", "aaa", "aaa"],
    ["a{2}", "aaa", "aa"],
    ["a{,}b", "aab", "aab"],
    ["{done}", "{done}", "{done}"],
    ["a{x}", "a{x}", "a{x}"],
    ["a{}", "a{}", "a{}"],
    ["a+?b??", "aab", "a"],
    ["]", "]", "]"],
    ["[]x]+", "x]x", "x]x"],
    ["[^]x]+", "ab]", "ab"],
    ["[a[b]+", "a[b", "a[b"],
    ["[\\w-]+", "é-1", "é-1"],
    ["[\\W]+", "é_ -", " -"],
    ["[\\d.]+", "v1.5", "1.5"],
    ["[\\]\\-^]+", "]-^", "]-^"],
    ["[🎉🚀]", "🚀", "🚀"],
    ["🎉+$", "🎉🎉", "🎉🎉"],
    ["^.$", "🎉", "🎉"],
    ["\\U0001f389", "🎉", "🎉"],
    ["\\u2713 \\x41", "✓ A", "✓ A"],
    ["\\101", "A", "A"],
    ["\\0", "\0", "\0"],
    ["\\a", "\x07", "\x07"],
    ["\\w+", "größe", "größe"],
    ["\\W", "é_1", null],
    ["(?a)\\w+", "größe", "gr"],
    ["\\bnde", "ände", null],
    ["\\bCOMPLETE\\b", "INCOMPLETE", null],
    ["\\bCOMPLETE\\b", "(COMPLETE)", "COMPLETE"],
    ["\\BPLETE", "COMPLETE", "PLETE"],
    ["\\d+", "٣", "٣"],
    ["\\D\\S\\s", "1ab ", "ab "],
    ["\\<promise\\>\\!\\@\\#\\%\\&\\-\\/\\ \\'\\\"\\:", "<promise>!@#%&-/ '\":", "<promise>!@#%&-/ '\":"],
    ["<promise>DONE</promise>", "<promise>DONE</promise>", "<promise>DONE</promise>"],
    ["\\$5\\.00 \\(all\\)", "$5.00 (all)", "$5.00 (all)"],
  ])("%j in %j: %j", (pattern, text, match) => {
    expect(donePattern(pattern).exec(text)?.[0] ?? null).toBe(match);
  });

  it.each<[string, string]>([
    ["(", "unterminated group"],
    [")", "unmatched ')'"],
    ["*", "nothing to repeat"],
    ["a**", "nothing to repeat"],
    ["a{2,1}", "numbers out of order in {} quantifier"],
    ["[a", "a set [ without its ]"],
    ["[]", "a set [ without its ]"],
    ["[z-a]", "range out of order in character class"],
    ["[[:alpha:]]", "[[:alpha:]] is not Python; write out the characters, as in [a-z]"],
    ["[_[:digit:]]+", "[[:digit:]] is not Python; write out the characters, as in [a-z]"],
    ["a\\", "a \\ at the end"],
    ["\\hx", "\\h means nothing in Python"],
    ["\\N{BULLET}", "\\N means nothing in Python"],
    ["[\\A]", "\\A means nothing in Python"],
    ["\\1", "\\1 refers to a group that is not there"],
    ["(a)\\2", "\\2 refers to a group that is not there"],
    ["(a)\\10", "\\10 refers to a group that is not there"],
    ["(?P=w)", "invalid named capture referenced"],
    ["(?P<w>a)(?P<w>b)", "duplicate capture group name"],
    ["\\U00110000", "there is no character 110000"],
    ["C++", "JavaScript has no possessive quantifier ++"],
    ["a{1,2}+", "JavaScript has no possessive quantifier {1,2}+"],
    ["(?>a)", "JavaScript has no atomic group (?>…)"],
    ["(a)?(?(1)b|c)", "JavaScript has no conditional group (?(…)…)"],
    ["a(?#note", "a comment (?# without its )"],
    ["a(?i)b", "flags for the whole belong at the start"],
    ["(?L)a", "the flag L is for bytes and cannot be used here"],
    ["(?P>w)", "unknown kind of group (?P>"],
    ["(?x:a b)", "this Node cannot do flags for a part, (?x:…); put flags for the whole at the start"],
  ])("%j is refused: %s", (pattern, message) => {
    expect(() => donePattern(pattern)).toThrow(new Error(message));
  });

  it("takes flags for a part where the engine can do them, and says so where it cannot", () => {
    const refused = "this Node cannot do flags for a part, (?i:…); put flags for the whole at the start";
    const tried = (): boolean | string => {
      try {
        return donePattern("a(?i:b)").test("aB");
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect(tried()).toBe(canScopeFlags() ? true : refused);
  });
});

function canScopeFlags(): boolean {
  const scoped = "(?i:a)";
  try {
    return new RegExp(scoped).test("A");
  } catch {
    return false;
  }
}
