import { describe, expect, it } from "vitest";
import { story, tasks } from "../recipes/stories/samples.js";
import { AGENT, stage } from "./kit.js";

const DONE = { say: "<response>DONE</response>" };
const HAS_HOOKS = AGENT === "claude" || AGENT === "codex";

describe.skipIf(!HAS_HOOKS)("hooks", () => {
  it("stop: an agent that leaves changes uncommitted hears why it may not stop, and commits them", async () => {
    const p = await stage([
      { bash: "sed -i.old s/false/true/ ralph/tasks.json && rm ralph/tasks.json.old && echo x > left.txt" },
      { say: "That is all." },
      { bash: "git add -A && git commit -qm work" },
      { say: "<promise>COMPLETE</promise>" },
    ]);
    p.write("ralph/tasks.json", JSON.stringify(tasks(story("US-001", { notes: "did it" })), null, 2));
    p.write("ralph/prd.md", "what we want");
    p.write("ralph/prompt.md", "Do it.");
    p.write(".gitignore", ".ralph-active\n");
    p.sh("git add -A && git commit -qm plan");
    const args = ["stories", "run", "--skip-review", "--no-sandbox", "-n", "1", "--json"];
    const { code, events } = await p.ralph(...args);
    const reason = "There are uncommitted changes: ";
    expect(p.model.asked.map((question) => question.includes(reason))).toEqual([false, false, true, true]);
    expect({ code, violations: events.filter(({ type }) => type === "violation") }).toEqual({
      code: 0,
      violations: [],
    });
  });

  it("context: the agent is told once that its context is full", async () => {
    const p = await stage([{ bash: "echo a" }, { bash: "echo b" }, DONE]);
    Object.assign(p.env, { CLAUDE_CONTEXT_WINDOW: "1000" });
    expect(await p.ralph("run", "-p", "Work")).toMatchObject({ code: 0 });
    const alerts = p.model.asked.map(
      (question) => question.split("[CRITICAL] About 90% of the context").length - 1,
    );
    expect(alerts).toEqual([0, 1, 1]);
  });

  it("guard: a command that it refuses is not run, and the agent hears why", async () => {
    const p = await stage([{ bash: "touch made.txt; sudo -n true" }, DONE]);
    const { code } = await p.ralph("run", "-p", "Work");
    expect(p.model.asked.at(-1)).toContain("Refused by ralph's guard: privilege escalation");
    expect({ code, made: p.exists("made.txt") }).toEqual({ code: 0, made: false });
  });
});
