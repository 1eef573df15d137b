import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Story, TaskList } from "../../../src/recipes/stories/tasks.js";
import { begun, plan, setUp, verify } from "./kit.js";
import { APPROVED, REJECTED, story, tasks, WAITING } from "./samples.js";

const two = (first: Partial<Story>, second: Partial<Story> = {}): TaskList =>
  tasks(story("A", first), story("B", second));
const one = (more: Partial<Story>, ...verifyCommands: string[]): TaskList => ({
  ...tasks(story("A", more)),
  verifyCommands,
});

describe("what an agent may not do is put back, recorded, and told to the next iteration", () => {
  const EASY = { acceptanceCriteria: ["it is there"] };

  it.each<[string, TaskList, unknown, string]>([
    ["a story is deleted", two({}), tasks(story("A")), "B"],
    ["criteria of an approved story are weakened", two(APPROVED), two({ ...APPROVED, ...EASY }), "A"],
    ["an implementer approves", two({}), two(APPROVED), "A"],
  ])("%s", async (_, before, after, subject) => {
    const { ends, next, now } = await begun(before);
    const { events, verdict, violations } = await ends(after, "<promise>COMPLETE</promise>");
    expect(events).toMatchObject([{ type: "violation", iteration: 1, story: subject }]);
    expect(verdict).toMatchObject({ passed: false, reason: `the agent broke the rules: ${subject}` });
    const known = before.userStories.map(({ notes: _, ...fields }) => fields);
    expect(now()).toMatchObject([...known, ...(subject === "C" ? [{ ...story("C"), notes: "did it" }] : [])]);
    expect((await next()).prompt).toContain(`## What the last iteration got wrong\n\n- ${violations[0]}`);
  });

  it.each([
    ["userStories is emptied", JSON.stringify(tasks()), "userStories is empty"],
    ["half a file", '{"project": "p", "userSto', 'is not valid JSON: unexpected " at line 1, column 18'],
  ])("%s: the last good list is put back, the broken one kept and named", async (_, text, message) => {
    const { ends, now, records } = await begun(two({}));
    const kept = join(records, "1", "tasks.broken.json");
    const { violations } = await ends(text);
    expect(violations).toEqual([expect.stringContaining(message)]);
    expect(violations[0]).toContain(
      `ralph restored the last good version and kept the broken one as ${kept}.`,
    );
    expect([readFileSync(kept, "utf8"), now()]).toEqual([text, two({}).userStories]);
  });

  it("prd.md and .ralph-active, changed or gone, and a check taken away", async () => {
    const { ends, p, records } = await begun({ ...two({}), verifyCommands: ["true"] });
    const active = p.read(".ralph-active");
    p.write("ralph/prd.md", "something easier");
    rmSync(join(p.dir, ".ralph-active"));
    mkdirSync(join(p.dir, ".ralph-active"));
    const { events, violations } = await ends({ ...two({ notes: "mine" }), verifyCommands: [] });
    const named = events.flatMap((event) => (event.type === "violation" ? [event.file] : []));
    expect(named).toEqual(["ralph/tasks.json", "ralph/prd.md", ".ralph-active"]);
    expect(violations[0]).toContain('verifyCommands lost "true"');
    expect([p.read("ralph/prd.md"), p.read(".ralph-active")]).toEqual(["what we want", active]);
    expect(readFileSync(join(records, "1", "prd.md"), "utf8")).toBe("something easier");
    const list = JSON.parse(p.read("ralph/tasks.json")) as TaskList;
    expect([list.verifyCommands, list.userStories[0]?.notes]).toEqual([["true"], "mine"]);
  });

  it("other edits stay, and notes that were emptied come back", async () => {
    const { ends, now } = await begun(tasks(story("A"), story("B", APPROVED)));
    await ends(
      tasks(
        story("A", { ...APPROVED, notes: "my notes", title: "Better" }),
        story("B", { ...APPROVED, notes: "" }),
        story("C"),
      ),
    );
    expect(now()).toEqual([
      story("A", { notes: "my notes", title: "Better" }),
      story("B", APPROVED),
      story("C"),
    ]);
  });
});

describe("what is believed is out of the agent's reach", () => {
  it("a change between two iterations is put back and recorded with the next one", async () => {
    const { ends, next, put, now } = await begun(one({}));
    await ends(one(WAITING));
    // Somebody whom the agent left behind in the background.
    put(one(APPROVED));
    expect([(await next()).mode, now()]).toEqual(["review", [story("A", WAITING)]]);
    const { violations, verdict } = await ends(one(APPROVED));
    expect(violations).toEqual([expect.stringContaining("Story A was changed between two iterations")]);
    expect(verdict.stop).toBe("completed");
  });

  it("a list that was planned since then is left alone, sound or not, and half a file is not", async () => {
    const { again, put, now, p } = await begun(two({}));
    for (const userStories of [
      [story("A", { title: "Something else" })],
      [{ id: "A", title: "", acceptanceCriteria: [] }],
    ]) {
      put({ userStories });
      await expect(plan(again())).rejects.toMatchObject({
        message: "ralph/tasks.json no longer holds the stories that this run began with",
        isFinal: true,
      });
      expect(JSON.parse(p.read("ralph/tasks.json"))).toEqual({ userStories });
    }
    put('{"userStories": [{"id": "A"');
    await plan(again());
    expect(now()).toEqual(two({}).userStories);
  });

  it("an iteration that was cut off begins again where it began", async () => {
    const { again, put, now } = await begun(two({}));
    put(two({ ...APPROVED, notes: "kept" }));
    expect(await plan(again())).toMatchObject({ mode: "implement", about: "A" });
    expect(now()[0]).toEqual(story("A", { notes: "kept" }));
  });

  it("work that was done when ralph was killed is judged; until then, nothing is passed", async () => {
    const { again, put, now } = await begun(two({}), { skipReview: true });
    put(two({ passes: true, notes: "kept" }));
    const recipe = again();
    expect(await plan(recipe)).toMatchObject({ mode: "implement", prompt: null });
    await recipe.close?.();
    expect(now()[0]).toEqual(story("A", { notes: "kept" }));
  });

  it("a link in the place of the folder, or a pipe in that of a file, leads nowhere", async () => {
    const { ends, next, p, now } = await begun(one({}));
    const elsewhere = join(p.root, "elsewhere");
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, "tasks.json"), "not yours");
    p.sh("rm -r ralph && ln -s ../elsewhere ralph");
    expect((await ends()).violations).toHaveLength(3);
    expect(readFileSync(join(elsewhere, "tasks.json"), "utf8")).toBe("not yours");
    expect([now(), p.read("ralph/prd.md")]).toEqual([[story("A")], "what we want"]);
    await next();
    p.sh("rm ralph/tasks.json && mkfifo ralph/tasks.json");
    expect((await ends()).violations[0]).toContain("ralph/tasks.json does not exist");
    expect(now()).toEqual([story("A")]);
  });

  it("this process believes its memory, and a later one names a record that it cannot read", async () => {
    const { ends, next, again, put, now, records } = await begun(one({}));
    await ends(one(WAITING));
    const forged = { iteration: 1, mode: "implement", before: one({}), after: one(APPROVED) };
    const record = join(records, "stories.json");
    writeFileSync(record, JSON.stringify(forged));
    put(one(APPROVED));
    expect([(await next()).mode, now()]).toEqual(["review", [story("A", WAITING)]]);
    writeFileSync(record, "{");
    expect(again).toThrow(`cannot be read: ${record}`);
  });

  it("an answer that was not verified is judged by what was before it", async () => {
    const { again, put } = await begun(two({}));
    put(two(WAITING));
    const recipe = again();
    expect(await plan(recipe, 1, undefined, true)).toMatchObject({ mode: "implement" });
    const { events, verdict } = await verify(recipe);
    const moved = { type: "state.changed", iteration: 1, from: "todo", to: "needs_review" };
    expect(events).toEqual([{ ...moved, story: "A", title: "Title of A", reviews: 0, reviewCap: 5 }]);
    expect(verdict).toMatchObject({ passed: true, reason: "A waits for review" });
  });
});

describe("what was put back", () => {
  it("is committed, with nothing else, and without hooks", async () => {
    const { ends, put, p } = await begun(one({}), {}, true);
    p.sh("printf '#!/bin/sh\\nexit 1\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit");
    put(one(APPROVED));
    p.write("ralph/prd.md", "easier");
    p.write("ralph/prompt.md", "Always approve");
    p.write("other.txt", "x");
    p.sh("git add ralph && git commit -qnm cheat");
    const { violations } = await ends();
    expect(violations.map((what) => what.split(" ", 2).join(" "))).toEqual([
      ...["Implement iterations", "ralph/prd.md is", "ralph/prompt.md is", "There are"],
    ]);
    expect(p.sh("git log -1 --format=%s --name-only")).toBe(
      "ralph: put back ralph/prd.md, ralph/prompt.md, ralph/tasks.json\n\nralph/prd.md\nralph/prompt.md\nralph/tasks.json\n",
    );
    p.sh("git checkout -q .");
    expect(JSON.parse(p.read("ralph/tasks.json"))).toMatchObject({ userStories: [{ passes: false }] });
    expect([p.read("ralph/prd.md"), p.sh("git status --porcelain")]).toEqual([
      "what we want",
      "?? other.txt\n",
    ]);
  });

  it("is put back as well when the run ends before it was judged", async () => {
    const { recipe, put, p, now } = await begun(one({}), {}, true);
    put(one(APPROVED));
    p.sh("git commit -qam cheat");
    await recipe.close?.();
    expect([now(), p.sh("git status --porcelain")]).toEqual([[story("A", { notes: "did it" })], ""]);
    await recipe.close?.();
  });
});

describe("the verdict", () => {
  it("a repository that is gone proves nothing", async () => {
    const { ends, p } = await begun(one(WAITING), {}, true);
    p.sh("rm -rf .git");
    const { verdict, violations } = await ends(one(APPROVED));
    expect([verdict.stop, violations]).toEqual([
      undefined,
      [expect.stringContaining("ralph cannot tell whether everything is committed")],
    ]);
  });

  it("an approval is proved although the commands passed after the work", async () => {
    const command = "! test -f broken";
    const { ends, next, p } = await begun(one({}, command));
    await ends(one(WAITING, command));
    await next();
    p.write("broken", "");
    expect((await ends(one(APPROVED, command))).violations[0]).toContain("while a check fails");
  });

  it("a review by an agent that failed does not count, and is no violation", async () => {
    const { ends, next, now } = await begun(one(WAITING));
    const { verdict, violations } = await ends(one(APPROVED), "", "exit code 1");
    expect([verdict.stop, violations, now()]).toEqual([undefined, [], [story("A", WAITING)]]);
    await next();
    expect((await ends(undefined, "", "exit code 1")).violations).toEqual([]);
  });

  it("uncommitted changes are told and recorded, and do not end the run", async () => {
    const { ends, next, p } = await begun(two({}), { dirty: ["mine.txt"] }, true);
    p.write("mine.txt", "x");
    const { events, verdict, violations } = await ends(two(WAITING));
    expect(events).toMatchObject([
      { type: "violation", file: "ralph/tasks.json" },
      { type: "state.changed", story: "A" },
    ]);
    expect(violations[0]).toContain("There are uncommitted changes: ralph/tasks.json.");
    expect(verdict).toMatchObject({
      passed: false,
      reason: "A waits for review; not everything is committed",
      memory: { violations: 0 },
    });
    expect((await next()).prompt).toContain(violations[0]);
  });

  it("without reviews the verify commands decide", async () => {
    const list = { ...two({}), verifyCommands: ["test -f ok"] };
    const passed = { ...two({ passes: true, notes: "n" }), verifyCommands: ["test -f ok"] };
    const { ends, next, now, p } = await begun(list, { skipReview: true });
    const { verdict } = await ends(passed);
    const reason = "checks failed: test -f ok (exit code 1)";
    expect(verdict).toMatchObject({ passed: false, reason });
    expect(now()[0]?.passes).toBe(false);
    p.write("ok", "");
    expect((await next()).prompt).toContain("### test -f ok\n\nFailed: exit code 1.");
    const moved = { type: "state.changed", from: "todo", to: "passed" };
    expect((await ends(passed)).events.at(-1)).toMatchObject(moved);
  });

  it("a story is not approved while a check fails, and after its last review it needs a human", async () => {
    const list = (more: Partial<Story>): TaskList => one(more, "exit 3");
    const { ends, next, now } = await begun(list({}), { reviewCap: 1 });
    const { verdict } = await ends(list(WAITING));
    expect(verdict.reason).toBe("checks failed: exit 3 (exit code 3)");

    const { mode, prompt } = await next();
    expect(mode).toBe("review");
    expect(prompt).toContain("You cannot approve it while a check fails");
    const { violations } = await ends(list(APPROVED));
    expect(violations[0]).toContain("it cannot be approved while a check fails (exit 3)");
    expect(now()[0]?.passes).toBe(false);

    for (const after of [REJECTED, { ...WAITING, reviewCount: 1 }, { ...REJECTED, reviewCount: 2 }]) {
      await next();
      expect((await ends(list(after))).verdict.stop).toBeUndefined();
    }
    await next();
    expect((await ends(list({ ...WAITING, reviewCount: 2 }))).verdict).toMatchObject({
      stop: "blocked",
      reason: "A was reviewed 2 times and its checks failed: it needs you",
    });
  });
});

describe("the plan", () => {
  it("fills the placeholders of prompt.md, which is read anew, and says what this iteration is for", async () => {
    const list = tasks(story("B", { priority: 2 }), story("A", { dependsOn: ["B"], title: "x" }));
    const { planned, recipe, again, p } = await begun(list);
    expect(planned).toMatchObject({ mode: "implement", about: "B" });
    const iteration = "Iteration 1 of 9. Mode: implement. Story: B (Title of B).";
    const ask = "If you cannot continue without a person";
    const begin = `Iteration 1 of 9 for $HOME.\n\n---\n\n## This iteration\n\n${iteration}\n${ask}`;
    expect(planned.prompt?.slice(0, begin.length)).toBe(begin);
    await recipe.close?.();
    p.write(
      "ralph/prompt.md",
      "Other words for $RALPH_STORY in $RALPH_MODE, $RALPH_DIR, $RALPH_REVIEW_CAP, $RALPH_X",
    );
    expect((await plan(again())).prompt).toContain("Other words for B in implement, ralph, 5, $RALPH_X\n");
  });

  it("tells a reviewer at the cap to approve, and who has no reviews to pass stories", async () => {
    const { planned } = await begun(one({ ...WAITING, reviewCount: 4 }), { hasReviewer: true });
    expect(planned).toMatchObject({ mode: "review", agent: "reviewer" });
    expect(planned.prompt).toContain(
      "This is review 5 of this story; the review cap is 5. Set reviewCount to 5.",
    );
    expect(planned.prompt).toContain("reviewFeedback after [AUTO-APPROVED AT CAP]");
    const skipping = await begun(one({}), { skipReview: true });
    expect(skipping.planned.prompt).toContain("Reviews are off.");
  });

  it("writes .ralph-active for hooks, and takes it away at the end", async () => {
    const { recipe, p } = await begun(two(APPROVED));
    expect(JSON.parse(p.read(".ralph-active"))).toEqual({
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      pid: process.pid,
      max_iterations: 9,
      mode: "direct",
      skipReview: false,
      reviewCap: 5,
      iterationMode: "implement",
      preIterationSnapshot: {
        A: { passes: true, reviewStatus: "approved", reviewCount: 1 },
        B: { passes: false, reviewStatus: null, reviewCount: 0 },
      },
    });
    await recipe.close?.();
    expect(p.exists(".ralph-active")).toBe(false);
  });
});

it("an agent that wants to stop is told everything that is wrong, from what the loop knows", async () => {
  const { recipe: make, put, p } = setUp(one({}), {}, true);
  const recipe = make();
  expect(await recipe.mayStop?.()).toBeUndefined();
  await plan(recipe);
  writeFileSync(join(p.dir, ".ralph-active"), "{}");
  put(one(APPROVED));
  const why = await recipe.mayStop?.();
  expect(why).toContain("Story A had illegal transition: passes false → true");
  expect(why).toContain("There are uncommitted changes: ralph/tasks.json.");
  put(one(WAITING));
  p.sh("git add -A && git commit -qm work");
  expect(await recipe.mayStop?.()).toBeUndefined();
});
