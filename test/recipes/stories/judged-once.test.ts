import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Story, TaskList } from "../../../src/recipes/stories/tasks.js";
import type { Sandbox } from "../../../src/sandbox/sandbox.js";
import { plan, setUp, verify } from "./kit.js";
import { APPROVED, REJECTED, story, tasks, WAITING } from "./samples.js";

const withCommands = (list: TaskList, ...verifyCommands: string[]): TaskList => ({ ...list, verifyCommands });

/** A verify command that writes another list of stories. */
const writes = (list: TaskList): string => `printf '%s' '${JSON.stringify(list)}' > ralph/tasks.json`;

describe("what is judged is what was there when the agent had ended", () => {
  it("a verify command that approves a story changes nothing, and is told", async () => {
    const forged = writes(tasks(story("A", { ...APPROVED, reviewCount: 2 })));
    const list = (more: Partial<Story>): TaskList => withCommands(tasks(story("A", more)), forged);
    const { recipe: make, put, now } = setUp(list(WAITING));
    const recipe = make();
    await plan(recipe);
    put(list(REJECTED));
    const { violations, verdict } = await verify(recipe);
    expect(now()).toEqual([story("A", REJECTED)]);
    expect(violations).toEqual([
      expect.stringContaining("ralph/tasks.json was changed while the verify commands ran"),
    ]);
    expect(verdict).toMatchObject({ passed: true, reason: "A needs changes (review 1)" });
    expect(await plan(recipe, 2, verdict.memory)).toMatchObject({ mode: "review-fix" });
  });

  it("a verify command that commits its forgery changes nothing either", async () => {
    const forged = `${writes(tasks(story("A", APPROVED)))}; git commit -qam forged`;
    const list = (more: Partial<Story>): TaskList => withCommands(tasks(story("A", more)), forged);
    const { recipe: make, put, now, p } = setUp(list({}), {}, true);
    const recipe = make();
    await plan(recipe);
    put(list(WAITING));
    p.sh("git commit -qam work");
    const { verdict } = await verify(recipe);
    expect([verdict.stop, now()]).toEqual([undefined, [story("A", WAITING)]]);
    p.sh("git checkout -q .");
    expect(now()).toEqual([story("A", WAITING)]);
  });

  it("prd.md, prompt.md, progress.txt and .ralph-active are put back after the verify commands, too", async () => {
    const files = ["ralph/prd.md", "ralph/prompt.md", "ralph/progress.txt", ".ralph-active"];
    const list = withCommands(tasks(story("A")), ...files.map((file) => `echo forged > ${file}`));
    const { recipe: make, put, p } = setUp(list);
    p.write("ralph/progress.txt", "began");
    const recipe = make();
    await plan(recipe);
    const active = p.read(".ralph-active");
    p.write("ralph/progress.txt", "what the agent learned");
    put({ ...list, userStories: [story("A", WAITING)] });
    const { events } = await verify(recipe);
    const named = events.flatMap((event) => (event.type === "violation" ? [event.file] : []));
    expect(named.sort()).toEqual([...files].sort());
    expect(files.map((file) => p.read(file))).toEqual([
      "what we want",
      expect.stringContaining("Iteration $RALPH_ITERATION"),
      "what the agent learned",
      active,
    ]);
  });

  it("a verify command cannot pass a story where there are no reviews", async () => {
    const forged = writes(tasks(story("A", { passes: true, notes: "n" })));
    const list = withCommands(tasks(story("A")), forged);
    const { recipe: make, now } = setUp(list, { skipReview: true });
    const recipe = make();
    await plan(recipe);
    expect((await verify(recipe)).verdict.stop).toBeUndefined();
    expect(now()).toEqual([story("A")]);
  });

  it("verify commands that run before the first iteration change nothing either", async () => {
    const list = withCommands(
      tasks(story("A")),
      writes(tasks(story("A", APPROVED))),
      "echo x > ralph/prd.md",
    );
    const { recipe: make, now, p } = setUp(list);
    const recipe = make();
    const { signal } = new AbortController();
    const steps = recipe.baseline?.({ iteration: 0, stop: signal, kill: signal });
    while (!(await steps?.next())?.done);
    expect(await plan(recipe)).toMatchObject({ mode: "implement" });
    expect([now(), p.read("ralph/prd.md")]).toEqual([[story("A")], "what we want"]);
  });

  it("a verify command that is stopped has changed nothing", async () => {
    const forged = writes(tasks(story("A", APPROVED)));
    const list = withCommands(tasks(story("A")), forged);
    const { recipe: make, put, now } = setUp(list);
    const recipe = make();
    await plan(recipe);
    put({ ...list, userStories: [story("A", WAITING)] });
    const stop = new AbortController();
    const answer = { finalMessage: "", error: null, costUsd: null, durationMs: 1, steps: 0 };
    const steps = recipe.verify(answer, { iteration: 1, stop: stop.signal, kill: stop.signal });
    for (let step = await steps.next(); !step.done; step = await steps.next()) {
      if (step.value.type === "check.finished") stop.abort();
    }
    await recipe.close?.();
    expect(now()).toEqual([story("A", WAITING)]);
  });
});

describe("a report that a verify command writes is nobody's fault", () => {
  const REPORT = "date +%s%N >> report.txt; date +%s%N > new-report.txt";
  const list = (more: Partial<Story>): TaskList => withCommands(tasks(story("A", more)), REPORT);
  const ready = () => {
    const all = setUp(list({}), {}, true);
    all.p.write("report.txt", "0");
    all.p.sh("git add -A && git commit -qm report");
    return all;
  };

  it("neither of the agent whose work is verified, nor of the next ones, nor at the end", async () => {
    const { recipe: make, put, p } = ready();
    const recipe = make();
    await plan(recipe);
    put(list(WAITING));
    p.sh("git add -A && git commit -qm work");
    const first = await verify(recipe);
    expect([first.violations, p.sh("git status --porcelain")]).toEqual([
      [],
      " M report.txt\n?? new-report.txt\n",
    ]);
    await plan(recipe, 2, first.verdict.memory);
    put(list(APPROVED));
    p.sh("git add ralph && git commit -qm review");
    expect(await recipe.mayStop?.()).toBeUndefined();
    const second = await verify(recipe, 2);
    expect([second.violations, second.verdict.stop]).toEqual([[], "completed"]);
  });

  it("nor after a resume, nor of a reviewer who runs the commands and commits all", async () => {
    const { recipe: make, put, p } = ready();
    const recipe = make();
    await plan(recipe);
    put(list(WAITING));
    p.sh("git add -A && git commit -qm work");
    const first = await verify(recipe);
    await recipe.close?.();
    const again = make();
    await plan(again, 2, first.verdict.memory);
    put(list(APPROVED));
    p.sh(`${REPORT}; git add -A && git commit -qm review`);
    const second = await verify(again, 2);
    expect([second.violations, second.verdict.stop]).toEqual([[], "completed"]);
  });

  it("and what an agent leaves uncommitted stays its fault, though a verify command writes there", async () => {
    const all = withCommands(tasks(story("A", WAITING), story("B")), "echo >> app.js");
    const { recipe: make, put, p } = setUp(all, {}, true);
    p.write("app.js", "1");
    p.sh("git add -A && git commit -qm app");
    const recipe = make();
    await plan(recipe);
    put({ ...all, userStories: [story("A", REJECTED), story("B")] });
    p.sh("git commit -qam review");
    const first = await verify(recipe);
    expect(first.violations).toEqual([]);
    await plan(recipe, 2, first.verdict.memory);
    p.write("app.js", "my work");
    put({ ...all, userStories: [story("A", { ...WAITING, reviewCount: 1 }), story("B")] });
    p.sh("git add ralph && git commit -qm fix");
    const second = await verify(recipe, 2);
    expect(second.violations[0]).toContain("There are uncommitted changes: app.js.");
    await plan(recipe, 3, second.verdict.memory);
    put({ ...all, userStories: [story("A", { ...APPROVED, reviewCount: 2 }), story("B")] });
    p.sh("git add ralph && git commit -qm review");
    expect((await verify(recipe, 3)).violations[0]).toContain("There are uncommitted changes: app.js.");
  });
});

describe("verify commands that an agent added", () => {
  const list = (more: Partial<Story>, ...commands: string[]): TaskList =>
    withCommands(tasks(story("A", more)), "true", ...commands);

  it("are named and not run where there is no sandbox, also after a resume", async () => {
    const { recipe: make, put, p } = setUp(list({}));
    const recipe = make();
    await plan(recipe);
    put(list(WAITING, "touch ../outside"));
    const first = await verify(recipe);
    const checks = (events: typeof first.events) =>
      events.flatMap((event) => (event.type === "check.finished" ? [[event.command, event.skipped]] : []));
    const seen = [
      ["true", undefined],
      ["touch ../outside", "untrusted"],
    ];
    expect([checks(first.events), first.verdict.passed]).toEqual([seen, true]);
    await recipe.close?.();
    const again = make();
    await plan(again, 2, first.verdict.memory);
    put(list(APPROVED, "touch ../outside"));
    const second = await verify(again, 2);
    expect([checks(second.events), second.verdict.stop]).toEqual([seen, "completed"]);
    expect(existsSync(join(p.root, "outside"))).toBe(false);
  });

  it("run inside the sandbox of the run, and count", async () => {
    const inside: string[] = [];
    const shelter: Sandbox = {
      reachesLoop: true,
      hasOwnPrograms: true,
      wrap: async ({ command }) => {
        inside.push(command.args?.at(-1) ?? "");
        return command;
      },
      ended: async (exit) => exit,
      explain: (error) => error,
      wasPaused: () => {},
      close: async () => {},
    };
    const { recipe: make, put } = setUp(list({}), {}, false, { agentSandbox: shelter });
    const recipe = make();
    await plan(recipe);
    put(list(WAITING, "echo mine; exit 4"));
    const { events, verdict } = await verify(recipe);
    expect(inside).toEqual([expect.stringContaining("echo mine; exit 4")]);
    expect(verdict.reason).toBe("verify commands failed: echo mine; exit 4 (exit code 4)");
    const [own, added] = events.flatMap((event) => (event.type === "check.finished" ? [event.log] : []));
    expect(readFileSync(added ?? "", "utf8")).toBe("mine\n");
    expect(own).not.toBe(added);
  });
});

describe("a review that edits other files than tasks.json and progress.txt does not approve", () => {
  const ready = (edit: string, commit = "git add -A && git commit -qm review") => {
    const all = setUp(tasks(story("A", WAITING)), {}, true);
    all.p.write("app.js", "1");
    all.p.write("ralph/progress.txt", "began");
    all.p.sh("git add -A && git commit -qm app");
    return { ...all, edit: () => all.p.sh(`${edit}; ${commit}`) };
  };

  it.each([
    ["a committed edit", "echo 2 > app.js", "git commit -qam review"],
    ["a new file", "echo 2 > new.js", "git add -A && git commit -qm review"],
    ["a deleted file", "git rm -q app.js", "git commit -qam review"],
    ["an edit that is not committed", "echo 2 > app.js", "git add ralph && git commit -qm review"],
    ["a new file that is not committed", "echo 2 > new.js", "git add ralph && git commit -qm review"],
    ["an amended commit", "echo 2 > app.js", "git commit -qa --amend -m review"],
  ])("%s", async (_, edit, commit) => {
    const { recipe: make, put, now, edit: work } = ready(edit, commit);
    const recipe = make();
    await plan(recipe);
    put(tasks(story("A", APPROVED)));
    work();
    expect(await recipe.mayStop?.()).toContain("A review changes tasks.json and progress.txt alone");
    const { violations, verdict } = await verify(recipe);
    expect(violations[0]).toMatch(/A review changes tasks.json and progress.txt alone.* (app|new)\.js/);
    expect([now(), verdict.stop]).toEqual([[story("A", WAITING)], undefined]);
    expect(await plan(recipe, 2, verdict.memory)).toMatchObject({ mode: "review" });
  });

  it("tasks.json and progress.txt alone are fine", async () => {
    const { recipe: make, put, edit } = ready("echo fine >> ralph/progress.txt");
    const recipe = make();
    await plan(recipe);
    put(tasks(story("A", APPROVED)));
    edit();
    const { violations, verdict } = await verify(recipe);
    expect([violations, verdict.stop]).toEqual([[], "completed"]);
  });

  it("what was edited before the review, and is committed by it, is not its edit", async () => {
    const { recipe: make, put, p, edit } = ready("true");
    p.write("app.js", "of the agent before");
    const recipe = make();
    await plan(recipe);
    put(tasks(story("A", APPROVED)));
    edit();
    const { violations, verdict } = await verify(recipe);
    expect([violations, verdict.stop]).toEqual([[], "completed"]);
  });

  it("a review that asks for changes is told, and its word stands", async () => {
    const { recipe: make, put, now, edit } = ready("echo 2 > app.js");
    const recipe = make();
    await plan(recipe);
    put(tasks(story("A", REJECTED)));
    edit();
    const { violations } = await verify(recipe);
    expect(violations).toEqual([expect.stringContaining("app.js")]);
    expect(now()).toEqual([story("A", REJECTED)]);
  });
});
