import { describe, expect, it } from "vitest";
import { createProject, type Project, type Step } from "../kit.js";
import { story, tasks } from "../recipes/stories/samples.js";

const RECIPES: Record<string, string[]> = {
  run: ["run", "-p", "a", "--check", "test -f done"],
  loop: ["loop", "a", "--no-completion-tag", "--check", "test -f done"],
  stories: ["stories", "run", "--no-sandbox", "--skip-review"],
  pipeline: ["pipeline", "run", "s.md"],
};

function project(steps: Step[]): Project {
  const p = createProject();
  p.settings({ agent: { command: "claude" } });
  p.write("ralph/tasks.json", JSON.stringify(tasks(story("US-001"))));
  p.write("ralph/prompt.md", "Do it.");
  p.write("s.md", "A spec.\n");
  p.write(".ralph/pipeline.yaml", "states:\n  A: { command: test -f done, agent: before }\n");
  p.write(".gitignore", ".ralph-active\n");
  p.sh("git add -A && git commit -qm plan");
  p.agent(steps);
  return p;
}

/** Done in the words of every recipe. */
const DONE: Step = {
  bash: `touch done; node -e 'const fs=require("fs"),f="ralph/tasks.json",d=JSON.parse(fs.readFileSync(f));Object.assign(d.userStories[0],{passes:true,notes:"n"});fs.writeFileSync(f,JSON.stringify(d))'; git add -A; git commit -qm x`,
  text: "<response>DONE</response>",
};

interface Limit {
  given: string[];
  reason: string;
  /** What the refusal tells to raise; undefined: it goes on as it is. */
  hint?: string;
  raised: string[];
  step?: Step;
}

const LIMITS: Record<string, Limit> = {
  iterations: {
    given: ["-n", "1"],
    reason: "max_iterations",
    hint: "--max-iterations N",
    raised: ["-n", "2"],
  },
  cost: {
    given: ["--max-cost", "0.5"],
    reason: "budget_exhausted",
    hint: "--max-cost USD",
    raised: ["--max-cost", "9"],
  },
  tokens: {
    given: ["--max-tokens", "100"],
    reason: "budget_exhausted",
    hint: "--max-tokens N",
    raised: ["--max-tokens", "1000"],
  },
  stuck: { given: ["--stuck-after", "1"], reason: "stuck", raised: ["--stuck-after", "2"] },
};

describe("a limit", () => {
  it.each([
    ["cost", "run"],
    ["tokens", "loop"],
    ["iterations", "stories"],
    ["cost", "pipeline"],
    ["stuck", "stories"],
  ])("of %s can be raised when a run of ralph %s is resumed", async (name, recipe) => {
    const { given, reason, hint, raised, step } = LIMITS[name] as Limit;
    const p = project([step ?? { text: "no", cost: 0.7 }, DONE]);
    const { finished } = await p.ralph(...(RECIPES[recipe] ?? []), ...given, "--json");
    expect(finished).toMatchObject({ reason, iterations: 1 });
    if (hint !== undefined) {
      const refused = await p.ralph("resume");
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(hint) as string });
    }
    const { code, finished: end } = await p.ralph("resume", ...raised, "--json");
    expect({ code, end }).toMatchObject({ code: 0, end: { success: true, iterations: 2 } });
  });
});
