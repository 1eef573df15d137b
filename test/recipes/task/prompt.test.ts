import { describe, expect, it } from "vitest";
import { asChecks } from "../../../src/recipes/checks.js";
import { type IterationParts, iterationPrompt } from "../../../src/recipes/task/loop-style.js";

const FIRST: IterationParts = {
  task: "Add a login.",
  checks: asChecks(["npm test", "npm run lint"], 1),
  completionTag: "COMPLETE",
  iteration: 1,
  maxIterations: 25,
  diff: "",
  failures: [],
  error: null,
  progress: "",
};

const LATER: IterationParts = {
  ...FIRST,
  iteration: 3,
  diff: "diff --git a/x b/x\n+new\n",
  failures: [
    { command: "npm test", how: "exit code 1", output: "1 failed\n" },
    { command: "npm run lint", how: "exit code 127: command not found", output: "" },
  ],
  error: "exit code 2: out of tokens",
  progress: "## Iteration 1 — FAIL\n- Steps: 8\n\n## Iteration 2 — FAIL\n- Steps: 3\n\n",
};

describe("the prompt of an iteration", () => {
  it.each<[string, Partial<IterationParts>, string]>([
    ["no change", { diff: "\n" }, "## Changes so far"],
    ["no failed check", { failures: [] }, "## Failed checks"],
    ["no error", { error: null }, "## Error"],
    ["no progress", { progress: "" }, "## Progress"],
    ["no tag", { completionTag: null }, "COMPLETE"],
    ["no instruction", { doneInstruction: false }, "end your final message with COMPLETE"],
    [
      "a task that says how to ask",
      { task: "Ask with <promise>BLOCKED: why</promise>" },
      "<promise>DECIDE: ",
    ],
  ])("has no heading for %s", (_, parts, heading) => {
    expect(iterationPrompt(LATER)).toContain(heading);
    expect(iterationPrompt({ ...LATER, ...parts })).not.toContain(heading);
  });

  it("never says the tag on a line of its own", () => {
    expect(iterationPrompt({ ...LATER, progress: "" }).split("\n")).not.toContain("COMPLETE");
  });
});

describe("what is long", () => {
  const cut = (parts: Partial<IterationParts>) => iterationPrompt({ ...LATER, ...parts });

  it("is a diff of 5,000 characters, with a marker behind it", () => {
    const whole = `${"+".repeat(4999)}\n`;
    expect(cut({ diff: whole })).toContain(`diff\n${"+".repeat(4999)}\n\`\`\`\n`);
    expect(cut({ diff: `${whole}x` })).toContain(`diff\n${"+".repeat(4999)}\n\n... [truncated]\n\`\`\`\n`);
    expect(cut({ diff: "x".repeat(9000) })).toContain(`diff\n${"x".repeat(5000)}\n... [truncated]\n\`\`\`\n`);
  });

  it("is a progress: its last iterations count", () => {
    const section = (number: number) => `## Iteration ${number} — FAIL\n- ${"x".repeat(400)}\n\n`;
    const progress = Array.from({ length: 100 }, (_, index) => section(index + 1)).join("");
    const prompt = cut({ progress });
    const shown = prompt.slice(prompt.indexOf("## Progress"));
    expect(shown).toMatch(/^## Progress\n\n```markdown\n\[\.\.\.\]\n\n## Iteration 55 — FAIL\n/);
    expect(shown.endsWith(`${section(99)}${section(100).trim()}\n\`\`\``)).toBe(true);
    expect(prompt.length).toBeLessThan(22_000);
  });
});

describe("a fence", () => {
  it.each([
    ["diff", (text: string) => ({ diff: text })],
    ["output", (text: string) => ({ failures: [{ command: "c", how: "exit code 1", output: text }] })],
    ["progress", (text: string) => ({ progress: text })],
  ])("around the %s is longer than any inside", (_, parts) => {
    const text = "a\n```\nb ````` c\n```";
    const prompt = iterationPrompt({ ...FIRST, iteration: 2, ...parts(text) });
    expect(prompt).toMatch(/\n`{6}(diff|markdown|)\na\n```\nb `{5} c\n```\n`{6}$/);
  });
});
