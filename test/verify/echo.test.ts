import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { donePattern, saysDone, saysTag, withoutEcho } from "../../src/verify/done.js";

const PROMPT = [
  "Study specs/README.md and pick the most important incomplete task.",
  "",
  "- do not assume that anything is implemented: read the code",
  "- run the tests after every change and commit when they pass",
  "",
  "When nothing is left to do, and only then, print this line at the end: All tasks complete",
  "Otherwise say what is left.",
].join("\n");

const SIGN = "All tasks complete";

/** As a terminal of so many columns shows it. */
function wrapped(text: string, width: number, prefix = "", suffix = ""): string {
  const rows = text.split("\n").flatMap((line) => {
    const parts = line.match(new RegExp(`.{1,${width}}(?:\\s|$)|.{1,${width}}`, "g")) ?? [""];
    return parts.map((part) => `${prefix}${part.trimEnd().padEnd(width)}${suffix}`.trimEnd());
  });
  return rows.join("\n");
}

describe("the echo of a prompt is not done", () => {
  it.each<[string, string]>([
    ["as it is", PROMPT],
    ["beside a column of its own", wrapped(PROMPT, 100, "  ┃  ", "      Context 0% used")],
    ["quoted", wrapped(PROMPT, 400, "> ")],
    [
      "with numbers of lines",
      PROMPT.split("\n")
        .map((line, at) => `${String(at + 1).padStart(6)}→${line}`)
        .join("\n"),
    ],
    ["its top scrolled away", PROMPT.slice(PROMPT.indexOf("at the end: "))],
    ["while it is still being typed", PROMPT.slice(0, PROMPT.indexOf(SIGN) + SIGN.length)],
  ])("%s", (_, text) => {
    expect(saysDone(text, donePattern(SIGN), PROMPT)).toBe(false);
  });

  it.each(Array.from({ length: 60 }, (_, at) => 20 + at * 3))(
    "wrapped at %i columns, for a sign that is a whole line",
    (width) => {
      const boxes = [
        wrapped(PROMPT, width),
        wrapped(PROMPT, width, "  "),
        wrapped(PROMPT, width, "│ ", " │"),
      ];
      const patterns = ["complete", "^\\s*complete$", "^complete", "tasks.*", "(?s)All.tasks", "^.*tasks.*$"];
      const wrong = boxes.flatMap((box) =>
        patterns.filter((pattern) => saysDone(`hello\n${box}`, donePattern(pattern), PROMPT)),
      );
      expect(wrong).toEqual([]);
    },
  );
});

describe("the agent's own words are done", () => {
  it.each<[string, string]>([
    ["alone", SIGN],
    ["after the prompt", `${PROMPT}\n\n${SIGN}`],
    ["after the prompt, marked", `❯ ${PROMPT}\n\n● ${SIGN}\n`],
    ["in a box", `${wrapped(PROMPT, 60, "│ ", " │")}\n│ ${SIGN} │`],
  ])("%s", (_, text) => {
    expect(saysDone(text, donePattern(SIGN), PROMPT)).toBe(true);
  });
});

describe("on the screen of a real agent", () => {
  const folder = join(import.meta.dirname, "../fixtures/echoes");
  const prompt = readFileSync(join(folder, "prompt.txt"), "utf8");
  const screens = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
    /x\d+\.txt$/.test(file),
  );

  it("was recorded often enough", () => expect(screens).toHaveLength(16));

  it.each(screens.sort())("%s", (file) => {
    const text = readFileSync(join(folder, file), "utf8");
    const patterns = [SIGN, "(?i)all tasks complete$", "tasks complete", "complete"];
    const found = patterns.map((pattern) => saysDone(text, donePattern(pattern), prompt));
    expect(found).toEqual(patterns.map(() => basename(file).startsWith("answered")));
  });
});

describe("a prompt that is short, or speaks of it at once", () => {
  it.each<[string, string, boolean]>([
    ["say DONE", "say DONE", false],
    ["say DONE", "❯ say DONE\n● DONE", true],
    ["say DONE", "I will say DONE later", false],
    ["DONE is the word for the end.", "> DONE is the word for the end.", false],
    ["DONE is the word for the end.", "> DONE is the word for the end.\nDONE", true],
    ["DONE is the word for the end.", "banner\nDONE is th", false],
    ["Say DONE, then DONE again", "Say DONE, then DONE again\nDONE, then DONE again", true],
    ["Print:\nDONE\n\nnothing else", "Print:\n\n\nDONE\nnothing else", false],
    ["Print:\n```\nDONE\n```", "│ Print:\n│ DONE", false],
  ])("%j in %j: %s", (prompt, text, done) => {
    expect(saysDone(text, donePattern("DONE"), prompt)).toBe(done);
  });
});

describe("a text of a megabyte", () => {
  const MEGABYTE = 1 << 20;
  const repeated = (part: string) => part.repeat(Math.ceil(MEGABYTE / part.length));

  it.each<[string, string, string, string, boolean]>([
    ["of echoes", repeated(`${PROMPT}\n`), SIGN, PROMPT, false],
    ["for a pattern that begins with anything", repeated("All tasks "), ".*complete", PROMPT, false],
  ])("%s is read in time", (_, text, pattern, prompt, done) => {
    expect(saysDone(text, donePattern(pattern), prompt)).toBe(done);
  });
});

describe("withoutEcho", () => {
  const ASKED = "Fix it.\nWhen you are done, say\n<response>DONE</response>";

  it.each<[string, string, string]>([
    ["without an echo", "I tried.\n<response>DONE</response>", ASKED],
    ["that holds the prompt within a line", "You said: fix it. I did.", "fix it"],
    ["for a prompt of one character that is a part of the promise", "<response>DONE</response>", "D"],
  ])("leaves an answer alone %s", (_, output, prompt) => {
    expect(withoutEcho(output, prompt)).toBe(output);
  });
});

describe("an echo in part", () => {
  const TASK = `# Task

Fix the tests.
When you are done, write

COMPLETE

or <promise>COMPLETE</promise>, and nothing else.

---

## Iteration 1 of 25
`;
  const lines = TASK.split("\n");

  it.each<[string, string]>([
    ["the beginning", lines.slice(0, 6).join("\n")],
    ["the beginning after other words", `prompt received:\n${lines.slice(0, 6).join("\n")}\nworking`],
    ["the end", lines.slice(5).join("\n")],
    ["a quotation", lines.map((line) => `> ${line}`).join("\n")],
    ["a copy with CRLF", lines.join("\r\n")],
    ["a line with the promise", "I was told: or <promise>COMPLETE</promise>, and nothing else."],
  ])("is not the agent's own word: %s", (_, echo) => {
    expect(saysTag(withoutEcho(echo, TASK), "COMPLETE")).toBe(false);
    expect(saysTag(withoutEcho(`${echo}\nI did it.\nCOMPLETE`, TASK), "COMPLETE")).toBe(true);
  });
});
