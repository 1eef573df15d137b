import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { LoopEvent } from "../../src/events.js";
import type { Project } from "../kit.js";
import { ASKS, BLOCKED, LIMITED, NETS, prepared, RECIPES } from "./nets-kit.js";

const type = ({ type }: LoopEvent): string => type;

function notes(p: Project): unknown[] {
  const file = join(p.root, "notes.ndjson");
  const lines = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
  return lines.map((line) => {
    const { event, iterations } = JSON.parse(line) as { event: string; iterations: number };
    return [event, iterations];
  });
}

describe.each(RECIPES)("ralph %s", (_, args) => {
  test("waits for a limit, is blocked, goes on with an answer and another agent, and protects files", async () => {
    const p = prepared([LIMITED, ASKS, LIMITED]);
    const first = await p.ralph(...args, "--json", ...NETS);
    expect(first).toMatchObject({
      code: 1,
      finished: { reason: "blocked", iterations: 1, question: { kind: "blocked", text: BLOCKED } },
    });
    const told = /^(limit|violation|iteration\.finished|agent\.started)/;
    expect(first.events.map(type).filter((name) => told.test(name))).toEqual([
      "agent.started",
      "limit.waiting",
      "agent.started",
      "violation",
      "iteration.finished",
    ]);
    expect(p.read("kept")).toBe("good\n");

    if (args[0] === "pipeline") {
      const { stdout } = await p.ralph("pipeline", "status");
      expect(stdout).toContain(
        `Question: ${BLOCKED}\nAnswer it with: ralph answer ${first.finished.run} "TEXT"`,
      );
    }
    expect((await p.ralph("answer", first.finished.run, "Use the blue one")).code).toBe(0);
    const second = await p.ralph("resume", "--json", "--fallback-agent", "other");
    expect(second).toMatchObject({ code: 0, finished: { success: true, iterations: 2 } });
    const asked = second.events.flatMap((event) =>
      event.type === "agent.started" ? [[event.agent, event.insteadOf]] : [],
    );
    expect(asked).toEqual([
      ["claude", undefined],
      ["other", "claude"],
    ]);
    const prompt = readFileSync(join(p.root, "other.prompt"), "utf8");
    expect(prompt).toContain(`asked: ${BLOCKED}\nThe answer is: Use the blue one`);
    expect(prompt).toContain("- kept is protected, and was changed: it was put back");
    expect(notes(p)).toEqual([
      ["waiting", 0],
      ["blocked", 1],
      ["finished", 2],
    ]);
  });

  test("gets the stronger model when it is stuck, ends as stuck, and goes on with a raised limit", async () => {
    const p = prepared([{ text: "no" }, { text: "no" }, ASKS]);
    const nets = ["--stuck-after", "1", "--escalate-model", "opus"];
    const patient = args.map((word, at) => (args[at - 1] === "--max-gate-retries" ? "9" : word));
    const { finished } = await p.ralph(...patient, "--json", ...nets);
    expect(finished).toMatchObject({ reason: "stuck", iterations: 2 });
    expect(finished.message).toContain("claude (opus) could not help either");
    expect([1, 2].map((call) => p.args(call).includes("opus"))).toEqual([false, true]);
    const resumed = await p.ralph("resume", "--stuck-after", "9", "--json");
    expect(resumed.finished).toMatchObject({ reason: "blocked", iterations: 3 });
  });
});

describe.each(RECIPES)("ralph %s", (_, args) => {
  test("takes a check that ran no test for one that failed, and says why", async () => {
    const p = prepared([{ bash: "touch done", text: "<response>DONE</response>\nCOMPLETE" }]);
    const none = "./pytest";
    p.program("pytest", "#!/bin/sh\necho collected 0 items\n");
    p.sh(
      "cp ../bin/pytest pytest && sed -i 's|test -f done|./pytest|' ralph/tasks.json .ralph/pipeline.yaml && git add -A && git commit -qm none",
    );
    const asked = args.map((word) => (word === "test -f done" ? none : word));
    const { code, stdout } = await p.ralph(...asked, "--max-iterations", "1");
    expect(code).toBe(1);
    expect(stdout).toMatch(
      args[0] === "pipeline" ? /no tests were found/ : /Failed \(exit 0, but no test was run, /,
    );
  });
});
