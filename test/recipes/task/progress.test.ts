import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { CheckFinished } from "../../../src/events.js";
import type { Answer } from "../../../src/loop/recipe.js";
import { createProgress, type ProgressEntry } from "../../../src/recipes/task/loop-style.js";
import { createRedactor } from "../../../src/records/redact.js";
import { failureOf } from "../../../src/verify/failure.js";
import { temporaryFolder } from "../../kit.js";

const SECRET = "topsecret-0123456789";

let records: string;
let workspace: string;
let copy: string;
beforeEach(() => {
  records = temporaryFolder();
  workspace = temporaryFolder();
  copy = join(workspace, ".ralph/progress.md");
});

function progress() {
  const redact = createRedactor({ MY_API_KEY: SECRET });
  return createProgress({ records, workspace, redact });
}

function check(command: string, more: Partial<CheckFinished> = {}): CheckFinished {
  const passed = (more.exitCode ?? 0) === 0;
  return {
    ...{ type: "check.finished", iteration: 1, command, exitCode: 0, signal: null, timedOut: false },
    ...{ passed, durationMs: 100, log: "", output: "", ...more },
  };
}

function judged(
  results: CheckFinished[],
  { claimedDone = false, ...answer }: Partial<Answer & { claimedDone: boolean }> = {},
): ProgressEntry {
  return {
    answer: { finalMessage: "", error: null, costUsd: 0.0234, durationMs: 15_000, steps: 8, ...answer },
    results: results.map((event) => ({ event })),
    failures: results
      .filter(({ passed }) => !passed)
      .map((event) => failureOf({ check: { timeoutMs: 120_000 }, event })),
    completionTag: "COMPLETE",
    claimedDone,
  };
}

function sectionOf(work: ProgressEntry): string {
  progress().add(1, work);
  return readFileSync(copy, "utf8");
}

describe("the progress file", () => {
  it("is what an iteration took and what the checks said", () => {
    const own = progress();
    const output =
      "src/auth.py:42:1: F841 local variable 'x' is assigned to but never used\nFound 1 error.\n";
    own.add(
      1,
      judged([check("pytest tests/"), check("ruff check src/", { exitCode: 1, output, durationMs: 100 })]),
    );
    own.add(2, judged([check("pytest tests/"), check("ruff check src/")], { claimedDone: true, steps: 3 }));
    const text = `## Iteration 1 — FAIL
- Steps: 8
- Cost: $0.0234
- Duration: 15.2s
- Checks:
  - pytest tests/: PASS
  - ruff check src/: FAIL — src/auth.py:42:1: F841 local variable 'x' is assigned to but never used

## Iteration 2 — PASS
- Steps: 3
- Cost: $0.0234
- Duration: 15.2s
- Checks:
  - pytest tests/: PASS
  - ruff check src/: PASS

`;
    expect([readFileSync(copy, "utf8"), readFileSync(join(records, "progress.md"), "utf8")]).toEqual([
      text,
      text,
    ]);
    expect(own.read()).toBe(text);
  });

  it("holds no secret", () => {
    const text = sectionOf(
      judged([check(`curl -u ${SECRET} x`, { exitCode: 1, output: SECRET })], { error: SECRET }),
    );
    expect(text).not.toContain(SECRET);
    expect(text).toContain("  - curl -u [redacted] x: FAIL — [redacted]\n- Error: [redacted]\n");
  });
});

describe("a run", () => {
  it("has an iteration once, also when it was run again after a crash", () => {
    progress().add(1, judged([check("a", { exitCode: 1, output: "see ## Iteration 2 " })]));
    progress().add(2, judged([check("a", { exitCode: 1, output: "first try" })]));
    const before = progress().read();
    progress().add(2, judged([check("a", { exitCode: 1, output: "second try" })]));
    expect(progress().read()).toBe(before.replace("first", "second"));
    expect(readFileSync(copy, "utf8")).toBe(progress().read());
  });
});
