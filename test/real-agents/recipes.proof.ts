import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { story, tasks } from "../recipes/stories/samples.js";
import { serverOf } from "../workers/kit.js";
import { AGENT, type Staged, stage } from "./kit.js";
import { USAGE } from "./model/dialect.js";

const DONE = { say: "<response>DONE</response>" };
/** It fails, and says why, until the answer is right. */
const CHECK = "grep -q right answer.txt || { echo 'answer.txt is still wr''ong'; exit 1; }";
const WRONG = { say: "I write it.", bash: "echo no > answer.txt" };
const RIGHT = { say: "I write it again.", bash: "echo right > answer.txt" };

/** The model of Claude Code and Amp counts what came from a cache apart. */
const INPUT = AGENT === "claude" || AGENT === "amp" ? USAGE.input + USAGE.cached : USAGE.input;

describe("recipes", () => {
  it("ralph run: a check fails, the agent hears why, and it passes", async () => {
    const p = await stage([WRONG, DONE, RIGHT, DONE]);
    const { code, finished } = await p.ralph("run", "-p", "Write answer.txt", "--check", CHECK, "--json");
    expect({ code, ...finished }).toMatchObject({
      code: 0,
      reason: "completed",
      iterations: 2,
      inputTokens: 4 * INPUT,
      outputTokens: 4 * USAGE.output,
      files: [{ path: "answer.txt", change: "added" }],
    });
    expect(p.model.asked.map(heardOfIt)).toEqual([false, false, true, true]);
    if (AGENT === "claude") expect(finished.costUsd).toBeGreaterThan(0);
  });

  it("ralph run: the agent words the commit message", async () => {
    const scm = { command: "git", tasks: ["commit"] };
    const p = await stage([RIGHT, DONE, { say: "Write the right answer" }], { scm });
    expect(await p.ralph("run", "-p", "Write answer.txt", "--check", CHECK)).toMatchObject({ code: 0 });
    expect(p.sh("git log -1 --format=%s --name-only")).toBe("Write the right answer\n\nanswer.txt\n");
  });

  it("ralph loop: checks pass, and only then the word for done counts", async () => {
    const p = await stage([
      WRONG,
      { say: "COMPLETE" },
      RIGHT,
      { say: "I am not COMPLETE" },
      { say: "COMPLETE" },
    ]);
    const { code, finished } = await p.ralph("loop", "Write answer.txt", "--check", CHECK, "--json");
    expect({ code, ...finished }).toMatchObject({ code: 0, reason: "all_checks_passed", iterations: 3 });
    expect(p.model.asked.map(heardOfIt).slice(0, 4)).toEqual([false, false, true, true]);
  });

  it("ralph stories run: a story is implemented and reviewed by another call", async () => {
    const p = await withStory([
      { bash: "node move.cjs && git add -A && git commit -qm work" },
      { say: "It is implemented." },
      { bash: "node move.cjs && git add -A && git commit -qm review" },
      { say: "<promise>COMPLETE</promise>" },
    ]);
    const { code, events, finished } = await p.ralph("stories", "run", "--no-sandbox", "--json");
    const modes = events.flatMap((event) => (event.type === "iteration.started" ? [event.mode] : []));
    expect({ code, reason: finished.reason, modes }).toEqual({
      code: 0,
      reason: "completed",
      modes: ["implement", "review"],
    });
    expect(events.filter(({ type }) => type === "violation")).toEqual([]);
  });

  it("ralph pipeline run: from a spec to code that passes its tests", async () => {
    const p = await withSpec([PRP, DONE, TESTS, DONE, CODE, DONE]);
    const { code, events } = await p.ralph("pipeline", "run", SPEC, "--json");
    const passed = events.flatMap((event) =>
      event.type === "gate.finished" && event.passed ? [event.state] : [],
    );
    expect({ code, passed }).toEqual({ code: 0, passed: STATES });
  });

  it("ralph spawn: an agent in a window of tmux goes on until it says the word", async () => {
    const p = await stage([{ say: "Not yet." }, { say: "ALL OF IT IS DONE" }]);
    serverOf(p);
    p.write("PROMPT.md", "Work");
    const flags = ["--prompt-file", "PROMPT.md", "-n", "5", "--done-pattern", "ALL OF IT"];
    expect(await p.ralph("spawn", "--name", "w", ...flags, "--", AGENT)).toMatchObject({ code: 0 });
    expect(await p.ralph("wait", "w", "--timeout", "100")).toMatchObject({ code: 0 });
    expect(p.model.asked.length).toBe(2);
  });

  it("ralph spawn: a run in a window of tmux is like any other", async () => {
    const p = await stage([WRONG, DONE, RIGHT, DONE]);
    serverOf(p);
    const task = ["run", "-p", "Write answer.txt", "--check", CHECK];
    expect(await p.ralph("spawn", "--name", "w", ...task)).toMatchObject({ code: 0 });
    expect(await p.ralph("wait", "w", "--timeout", "100")).toMatchObject({ code: 0 });
    expect([p.read("answer.txt"), p.model.asked.length]).toEqual(["right\n", 4]);
  });
});

function heardOfIt(question: string): boolean {
  return question.includes("answer.txt is still wrong");
}

/** Moves the story one step, as an agent would. */
const MOVE = `const { readFileSync, writeFileSync } = require("node:fs");
const tasks = JSON.parse(readFileSync("ralph/tasks.json"));
const [story] = tasks.userStories;
if (story.reviewStatus === null) Object.assign(story, { reviewStatus: "needs_review", notes: "did it" });
else Object.assign(story, { reviewStatus: "approved", reviewCount: 1, passes: true });
writeFileSync("ralph/tasks.json", JSON.stringify(tasks));
`;

async function withStory(turns: Parameters<typeof stage>[0]): Promise<Staged> {
  const p = await stage(turns);
  p.write("ralph/tasks.json", JSON.stringify(tasks(story())));
  p.write("ralph/prd.md", "what we want");
  p.write("ralph/prompt.md", "Do it. $RALPH_MODE");
  p.write("move.cjs", MOVE);
  p.write(".gitignore", ".ralph-active\n");
  p.sh("git add -A && git commit -qm plan");
  return p;
}

const EXAMPLE = join(import.meta.dirname, "../../examples/recipe-saver");
const SPEC = "specs/recipe-saver.md";
const STATES = [
  "STRESS_TEST",
  "VALIDATE",
  "GENERATE_PRP",
  "CHECK_PRP",
  "GENERATE_TESTS",
  "CHECK_TESTS",
  "IMPLEMENT",
];
const [PRP, TESTS, CODE] = ["PRPs/recipe-saver.prp.md", "tests/test_extraction.py", "recipes.py"].map(
  (file) => ({ bash: `mkdir -p PRPs tests && cp example/${file} ${file}` }),
) as [{ bash: string }, { bash: string }, { bash: string }];

/** Stands for pytest, which is not everywhere. */
const PYTEST = "#!/bin/sh\ntest -f recipes.py && echo '3 passed' || { echo '1 failed'; exit 1; }\n";

async function withSpec(turns: Parameters<typeof stage>[0]): Promise<Staged> {
  const p = await stage(turns);
  p.write(SPEC, readFileSync(join(EXAMPLE, SPEC), "utf8"));
  p.write("pyproject.toml", '[project]\ndependencies = ["pytest"]\n');
  p.write(".gitignore", "example\n");
  p.program("pytest", PYTEST);
  p.sh(`cp -r "${EXAMPLE}" example && git add -A && git commit -qm spec`);
  return p;
}
