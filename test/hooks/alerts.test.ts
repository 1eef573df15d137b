import { describe, expect, it } from "vitest";
import { alert, thresholdOf, windowOf } from "../../src/hooks/alerts.cjs";

/** Bytes of a transcript that fills so much of a context of 1,000 tokens. */
const filled = (percent: number): number => percent * 40;

describe("the threshold of a transcript", () => {
  it.each([
    [0, undefined],
    [49.9, undefined],
    [50, 50],
    [59.9, 50],
    [60, 60],
    [70, 70],
    [80, 80],
    [89.9, 80],
    [90, 90],
    [300, 90],
  ])("at %d percent is %s", (percent, threshold) => {
    expect(thresholdOf(filled(percent), 1000)).toBe(threshold);
  });

  it("counts four bytes as a token of a context of 200,000", () => {
    expect([399_996, 400_000].map((bytes) => thresholdOf(bytes, windowOf({})))).toEqual([undefined, 50]);
  });
});

describe("the size of the context", () => {
  it.each([
    [undefined, 200_000],
    ["", 200_000],
    ["1000000", 1_000_000],
    ["0", 200_000],
    ["-5", 200_000],
    ["large", 200_000],
    ["Infinity", 200_000],
  ])("with CLAUDE_CONTEXT_WINDOW=%s is %d", (given, tokens) => {
    expect(windowOf({ CLAUDE_CONTEXT_WINDOW: given })).toBe(tokens);
  });
});

describe("an alert", () => {
  const said = (
    threshold: Parameters<typeof alert>[0]["threshold"],
    handOver: "stories" | "loop",
  ): string => {
    const answer = alert({ threshold, handOver }) as {
      hookSpecificOutput: { hookEventName: string; additionalContext: string };
    };
    expect(answer.hookSpecificOutput.hookEventName).toBe("PostToolUse");
    return answer.hookSpecificOutput.additionalContext;
  };

  it.each([
    [50, "[NOTICE] About 50% of the context window is used. Be mindful of remaining space. Plan to finish"],
    [60, "[NOTICE] About 60% of the context window is used. Be mindful of remaining space. Plan to finish"],
    [
      70,
      "[WARNING] About 70% of the context window is used. Finish your current task and commit soon. Do not",
    ],
    [
      80,
      "[WARNING] About 80% of the context window is used. Finish your current task and commit soon. Do not",
    ],
    [90, "[CRITICAL] About 90% of the context window is used. Wrap up immediately. Do NOT start new work."],
  ] as const)("at %d percent says how urgent it is and what to do", (threshold, text) => {
    expect(said(threshold, "stories")).toContain(text);
    expect(said(threshold, "stories")).toContain("tasks.json");
  });

  it.each([50, 70, 90] as const)("at %d percent names no file where there are no stories", (threshold) => {
    expect(said(threshold, "loop")).toContain(`About ${threshold}% of the context window is used.`);
    expect(said(threshold, "loop")).not.toMatch(/tasks\.json|progress\.txt/);
  });
});
