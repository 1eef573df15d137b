import { describe, expect, it } from "vitest";
import type { LoopEvent } from "../../src/events.js";
import { createProject, type Project, type Step } from "../kit.js";
import { story, tasks } from "../recipes/stories/samples.js";

/** A project with a branch that cannot be merged, and one that can. */
function diverged(...steps: Step[]): Project {
  const p = createProject();
  p.settings({ agent: { command: "claude" }, sandbox: { kind: "none" } });
  p.agent(steps);
  p.sh("printf '.ralph-active\n' > .gitignore; echo 1 > f; git add -A; git commit -qm 1");
  p.sh("git switch -qc side; echo s > f; git commit -qam s; git switch -q main");
  p.sh("git switch -qc apart; git commit -q --allow-empty -m apart; git switch -q main");
  p.sh("echo 2 > f; git commit -qam 2");
  return p;
}

const does = (bash: string, text: string): Step => ({ bash: `(${bash}) 2>&1 || true`, text });
const judged = (events: LoopEvent[]) =>
  events.flatMap((event) => (event.type === "iteration.finished" ? [[event.passed, event.reason]] : []));
const scm = (events: LoopEvent[]) =>
  events.flatMap((event) => (event.type === "scm.finished" ? [[event.passed, event.message]] : []));
const HOW = "(finish or abort it: git status says how)";
const MERGE = `a merge is under way, and conflicts are not resolved in f ${HOW}`;
const DONE = "<response>DONE</response>";

const COMMIT = "git add -A; git commit -qm work";
const APPROVE = `node -e 'const fs=require("fs"),f="ralph/tasks.json",d=JSON.parse(fs.readFileSync(f));Object.assign(d.userStories[0],{reviewStatus:"approved",passes:true,reviewCount:1});fs.writeFileSync(f,JSON.stringify(d))'`;

const WAITING = story("US-001", { reviewStatus: "needs_review", notes: "n" });

function withStories(p: Project, one = WAITING): void {
  p.write("ralph/tasks.json", JSON.stringify(tasks(one)));
  p.write("ralph/prd.md", "what we want");
  p.write("ralph/prompt.md", "Do it.");
  p.sh("git add -A; git commit -qm plan");
}

function withPipeline(p: Project): void {
  p.write("s.md", "A spec.\n");
  p.write(".ralph/pipeline.yaml", "states:\n  WORK:\n    goal: Work.\n    command: test -f ok\n");
  p.sh("git add -A; git commit -qm spec");
}

describe("what an agent has begun in git and not ended", () => {
  it("keeps ralph run from being done, and is told to the next agent", async () => {
    const p = diverged(does("git merge side", DONE), does("git merge --abort", DONE));
    const { code, events } = await p.ralph("run", "-p", "x", "--json");
    expect(judged(events)).toEqual([
      [false, `completed, but ${MERGE}`],
      [true, "completed"],
    ]);
    expect(code).toBe(0);
    expect(p.prompt(2)).toContain(`In the git repository ${MERGE}.`);
  });

  it("keeps stories from being done when all is committed", async () => {
    const p = diverged(
      does(`${APPROVE}; ${COMMIT}; git merge --no-ff --no-commit apart`, "fine"),
      does("git commit -qm merged", "merged"),
    );
    withStories(p);
    const { code, events } = await p.ralph("stories", "run", "--json");
    expect(judged(events)).toEqual([
      [false, `all stories are approved (1), but a merge is under way ${HOW}`],
      [true, "all stories are approved (1)"],
    ]);
    expect(code).toBe(0);
  });

  it("is not committed by a pipeline, whose state is not passed", async () => {
    const p = diverged(does("git merge side; echo x > ok", "done"), does("git merge --abort", "done"));
    withPipeline(p);
    const { code, events, all } = await p.ralph("pipeline", "run", "s.md", "--json");
    expect({ code, scm: scm(events) }, all).toEqual({
      code: 0,
      scm: [
        [false, MERGE],
        [true, "WORK: gate passed"],
      ],
    });
  });

  it("is not committed by the SCM", async () => {
    const p = diverged(
      does("git merge side", DONE),
      does("git checkout -q --theirs f; git add f; git commit -qm m", DONE),
    );
    p.settings({ agent: { command: "claude" }, scm: { command: "git", tasks: ["commit"] } });
    p.sh("git add -A; git commit -qm settings");
    const { code, events } = await p.ralph("run", "-p", "x", "--json");
    expect(scm(events)).toEqual([
      [false, MERGE],
      [true, "nothing to commit"],
    ]);
    expect(code).toBe(0);
    expect(p.prompt(2)).toContain(`git commit failed: ${MERGE}`);
  });

  it("is not committed in a worktree, and no commit is recommended", async () => {
    const p = diverged(does("echo 3 > f; git commit -qam 3; echo x > new; git rebase side", "COMPLETE"));
    const args = ["loop", "x", "--check", "true", "-n", "1", "--worktree", "one"];
    const { code, finished } = await p.ralph(...args, "--json");
    const why = `work is left uncommitted in ${p.dir}-worktrees/one: a rebase is under way, and conflicts are not resolved in f ${HOW}`;
    expect([code, finished.unsettled]).toEqual([1, why]);
    expect(p.sh("git show ralph/one:f")).toBe("3\n");
  });
});

describe("what an agent has hidden from git", () => {
  it("is committed at the end of a worktree's run, or told", async () => {
    const hide =
      "git update-index --skip-worktree f; echo work > f; echo secret >> $(git rev-parse --git-path info/exclude); echo x > secret";
    const p = diverged({ bash: hide, text: "COMPLETE" });
    const { finished } = await p.ralph("loop", "x", "--check", "true", "--worktree", "one", "--json");
    expect(p.sh("git show ralph/one:f")).toBe("work\n");
    expect(finished.unsettled).toBe(
      `work is left uncommitted in ${p.dir}-worktrees/one: secret (hidden from git since the run began)`,
    );
  });
});

describe("a repository that an agent made inside", () => {
  it("is not committed by a pipeline, and the next agent is told", async () => {
    const inner = "git init -q inner; git -C inner commit -q --allow-empty -m i; echo x > ok";
    const p = diverged(does(inner, "done"), does("rm -rf inner/.git; echo x > inner/x", "done"));
    withPipeline(p);
    const { code, events } = await p.ralph("pipeline", "run", "s.md", "--json");
    expect({ code, scm: scm(events) }).toEqual({
      code: 0,
      scm: [
        [false, expect.stringContaining("inner is a repository of its own")],
        [true, "WORK: gate passed"],
      ],
    });
    expect(p.prompt(2)).toContain("inner is a repository of its own");
    expect(p.sh("git ls-tree -r --name-only HEAD")).toContain("inner/x\n");
  });
});
