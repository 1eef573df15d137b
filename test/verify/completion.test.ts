import { describe, expect, it } from "vitest";
import { isCompletionResponse, withoutEcho } from "../../src/verify/completion.js";
import { saysTag } from "../../src/verify/tag.js";
import { stopwatch } from "../stopwatch.js";

describe("isCompletionResponse", () => {
  it.each<[string, string, boolean]>([
    ["<response>DONE</response>", "DONE", true],
    ["<response> done\n</response>", "DONE", true],
    ["<response>Done</response>", " done ", true],
    ["<response>all is\nwell</response>", "all is\nwell", true],
    ["<response>DONE</response>\n<response>NOT YET</response>", "DONE", true],
    ["<response>DONE</response> but <response>NOT YET</response>", "DONE", false],
    ["<response>NOT YET</response> <response>DONE</response>", "DONE", false],
    ["<response>INCOMPLETE</response>", "COMPLETE", false],
    ["<response>COMPLETE</response>", "INCOMPLETE", false],
    ["<response>DONE.</response>", "DONE", false],
    ["<response>NOT DONE</response>", "DONE", false],
    ["<response>D.NE</response>", "DONE", false],
    ["<response>DONE</response>", "D.NE", false],
    ["I am DONE", "DONE", false],
    ["DONE", "DONE", false],
    ["I will answer <response>…</response> when I am DONE", "DONE", false],
    ["<response></response>", "DONE", false],
    ["", "DONE", false],
  ])("in %j for %j: %s", (message, expected, done) => {
    expect(isCompletionResponse(message, expected)).toBe(done);
  });
});

describe("withoutEcho", () => {
  const PROMPT = "Fix it.\nWhen you are done, say\n<response>DONE</response>";

  it.each<[string, string, string, string]>([
    ["the prompt before the answer", `${PROMPT}\nI tried.`, PROMPT, "I tried."],
    ["the prompt after something else", `user:\n${PROMPT}\nagent:\nhi`, PROMPT, "user:\nagent:\nhi"],
    ["the prompt after the answer", `hi\n${PROMPT}`, PROMPT, "hi"],
    ["the prompt alone", PROMPT, PROMPT, ""],
    ["the prompt and a line break", `${PROMPT}\n`, `${PROMPT}\n`, ""],
    ["the prompt in two places", `${PROMPT}\nhi\n${PROMPT}\nbye`, PROMPT, "hi\nbye"],
    ["the prompt twice in a row", `${PROMPT}\n${PROMPT}\nhi`, PROMPT, "hi"],
    ["a prompt between blank lines", `\n\n${PROMPT}\n\nhi`, `\n\n${PROMPT}\n\n`, "hi"],
    ["a prompt with spaces around it", `  ${PROMPT}  \nhi`, `  ${PROMPT}  `, "hi"],
    ["a prompt with CRLF whose lines were read", `${PROMPT}\nhi`, PROMPT.replaceAll("\n", "\r\n"), "hi"],
    ["special signs in the prompt", "$& $1 .* (x)\nhi", "$& $1 .* (x)", "hi"],
  ])("leaves out %s", (_, output, prompt, expected) => {
    expect(withoutEcho(output, prompt).trim()).toBe(expected);
  });

  it.each<[string, string, string]>([
    ["without an echo", "I tried.\n<response>DONE</response>", PROMPT],
    ["that quotes a part of the prompt", "When you are done, say\nwhat?", PROMPT],
    ["that holds the prompt within a line", "You said: fix it. I did.", "fix it"],
    ["for a prompt of one character", "axbxc\nexactly x, xx", "x"],
    ["for a prompt of one character that is a part of the promise", "<response>DONE</response>", "D"],
    ["for an empty prompt", "\n\nhi\n\n", ""],
    ["for a blank prompt", "a b\n\nc", " \n "],
    ["that is empty", "", PROMPT],
  ])("leaves an answer alone %s", (_, output, prompt) => {
    expect(withoutEcho(output, prompt)).toBe(output);
  });

  it("takes the promise in an echoed prompt away, and leaves the agent's own", () => {
    expect(isCompletionResponse(withoutEcho(`${PROMPT}\nI tried.`, PROMPT), "DONE")).toBe(false);
    const own = `${PROMPT}\nI did.\n<response>DONE</response>`;
    expect(isCompletionResponse(withoutEcho(own, PROMPT), "DONE")).toBe(true);
  });
});

describe("an echo in part", () => {
  const PROMPT = `# Task

Fix the tests.
When you are done, write

COMPLETE

or <promise>COMPLETE</promise>, and nothing else.

---

## Iteration 1 of 25
`;
  const lines = PROMPT.split("\n");

  it.each<[string, string]>([
    ["the beginning", lines.slice(0, 6).join("\n")],
    ["the beginning after other words", `prompt received:\n${lines.slice(0, 6).join("\n")}\nworking`],
    ["the middle", lines.slice(2, 9).join("\n")],
    ["the end", lines.slice(5).join("\n")],
    ["a quotation", lines.map((line) => `> ${line}`).join("\n")],
    ["an indented copy", lines.map((line) => `    ${line}`).join("\n")],
    ["a copy without blank lines", lines.filter((line) => line !== "").join("\n")],
    ["a copy with CRLF", lines.join("\r\n")],
    ["a line with the promise", "I was told: or <promise>COMPLETE</promise>, and nothing else."],
  ])("is not the agent's own word: %s", (_, echo) => {
    expect(saysTag(withoutEcho(echo, PROMPT), "COMPLETE")).toBe(false);
    expect(saysTag(withoutEcho(`${echo}\nI did it.\nCOMPLETE`, PROMPT), "COMPLETE")).toBe(true);
  });

  it.each(["COMPLETE", "I did what you asked for.\n\nCOMPLETE\n", "Fix the tests.\nDone.\nCOMPLETE"])(
    "is not what the agent says in its own words: %j",
    (answer) => {
      expect(withoutEcho(answer, PROMPT)).toBe(answer);
    },
  );

  it("takes little time to find in long texts", () => {
    const long = "the same line\n".repeat(100_000);
    const taken = stopwatch();
    expect(withoutEcho(`${long}COMPLETE`, `${long}x`)).toBe("\nCOMPLETE".trim());
    expect(taken()).toBeLessThan(2000);
  });
});
