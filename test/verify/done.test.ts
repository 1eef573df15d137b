import { describe, expect, it } from "vitest";
import { donePattern, isCompletionResponse, saysTag } from "../../src/verify/done.js";

describe("the completion tag", () => {
  it.each([
    "All set.\n\nCOMPLETE",
    "All done: <promise>COMPLETE</promise>.",
    "All done. COMPLETE",
    "***COMPLETE***",
    "<done><b>COMPLETE</b></done>",
    "I fixed it once and for all. <promise>COMPLETE</promise>",
  ])("is said by %j", (message) => {
    expect(saysTag(message, "COMPLETE")).toBe(true);
  });

  it.each([
    "",
    "All done: <promise>COMPLETE</promise>, see above.",
    "the tag is <b>COMPLETE</b>",
    "<COMPLETE>",
    "Once the tests pass, I'll answer: <promise>COMPLETE</promise>",
    "Once the tests pass, I'll answer:\n\n<promise>COMPLETE</promise>",
    "The script prints\n<pre>\nCOMPLETE\n</pre>",
  ])("is not said by %j", (message) => {
    expect(saysTag(message, "COMPLETE")).toBe(false);
  });

  it("that is another one is the only one that counts", () => {
    expect(saysTag("COMPLETE", "FERTIG")).toBe(false);
    expect(saysTag("FERTIG", "FERTIG")).toBe(true);
    expect(saysTag("alles fertig!", "alles fertig!")).toBe(true);
    expect(saysTag("D.NE", "D.NE") && !saysTag("DONE", "D.NE")).toBe(true);
    expect(saysTag("<promise>ok</promise>", "<promise>ok</promise>")).toBe(true);
  });

  it("is looked for in a long line of marks, too", () => {
    expect(saysTag(`${"*_`".repeat(100_000)}COMPLETE!`, "COMPLETE")).toBe(false);
    expect(saysTag("<promise>".repeat(20_000), "COMPLETE")).toBe(false);
    expect(saysTag("COMPLETE ".repeat(100_000), "COMPLETE")).toBe(false);
  });
});

describe("isCompletionResponse", () => {
  it.each<[string, string, boolean]>([
    ["<response> done\n</response>", "DONE", true],
    ["<response>all is\nwell</response>", "all is\nwell", true],
    ["<response>DONE</response>\n<response>NOT YET</response>", "DONE", true],
    ["<response>DONE</response> but <response>NOT YET</response>", "DONE", false],
    ["<response>INCOMPLETE</response>", "COMPLETE", false],
    ["<response>D.NE</response>", "DONE", false],
    ["I will answer <response>…</response> when I am DONE", "DONE", false],
  ])("in %j for %j: %s", (message, expected, done) => {
    expect(isCompletionResponse(message, expected)).toBe(done);
  });
});

describe("a done pattern", () => {
  it.each<[string, string, string | null]>([
    ["All tasks complete", "x All tasks complete.", "All tasks complete"],
    ["PLAN.md.*100%", "PLAN.md is at 100%", "PLAN.md is at 100%"],
    ["^DONE$", "a\nDONE\nb", "DONE"],
    ["(?i)complete", "COMPLETE", "COMPLETE"],
    [".*b", "x\nab", "ab"],
    ["(?s)a.b", "a\nb", "a\nb"],
    ["(?ims)^A.b", "x\na\nB", "a\nB"],
    ["(?P<w>ab)-(?P=w)", "ab-ab", "ab-ab"],
    ["(?<w>ab)-\\k<w>", "ab-ab", "ab-ab"],
    ["\\ADONE", "x\nDONE", null],
    ["DONE\\Z", "x\nDONE", "DONE"],
    ["[🎉🚀]", "🚀", "🚀"],
    ["\\bCOMPLETE\\b", "INCOMPLETE", null],
  ])("%j in %j: %j", (pattern, text, match) => {
    expect(donePattern(pattern).exec(text)?.[0] ?? null).toBe(match);
  });

  it.each<[string, string]>([
    ["(", "unterminated group"],
    ["a\\", "\\ at end of pattern"],
    ["(?P<w>a)(?P<w>b)", "duplicate capture group name"],
  ])("%j is refused: %s", (pattern, message) => {
    expect(() => donePattern(pattern)).toThrow(new Error(message));
  });
});
