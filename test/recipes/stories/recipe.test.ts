import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Json } from "../../../src/events.js";
import { startTimeOf } from "../../../src/process/table.js";
import type { Story, TaskList } from "../../../src/recipes/stories/tasks.js";
import { plan, setUp, verify } from "./kit.js";
import { APPROVED, REJECTED, story, tasks, WAITING } from "./samples.js";

/** Notes may stay; these may not. */
function reviewFields({ notes: _, ...fields }: Story): Partial<Story> {
  return fields;
}

describe("an illegal move of SPEC's list is put back, recorded, and told to the next iteration", () => {
  const two = (first: Partial<Story>, second: Partial<Story> = {}): TaskList =>
    tasks(story("A", first), story("B", second));
  const weaker = { acceptanceCriteria: ["it is there"] };

  it.each<[string, TaskList, unknown, string]>([
    ["an unfinished story is deleted", two({}), tasks(story("A")), "B"],
    [
      "an unfinished story is renumbered",
      two({}),
      tasks(story("A"), story("C", { title: "Title of B" })),
      "B",
    ],
    ["criteria of an approved story are weakened", two(APPROVED), two({ ...APPROVED, ...weaker }), "A"],
    ["a new story starts approved", two({}), tasks(story("A"), story("B"), story("C", APPROVED)), "C"],
    [
      "a new story starts passed",
      two({}),
      tasks(story("A"), story("B"), story("C", { passes: true, notes: "n" })),
      "C",
    ],
    ["an implementer approves", two({}), two(APPROVED), "A"],
    ["a story is approved that was never submitted", two(WAITING), two(WAITING, APPROVED), "B"],
    ["a review changes nothing", two(WAITING), two(WAITING), "A"],
    ["a fix of a story that needs none", two(REJECTED), two(REJECTED, WAITING), "B"],
    ["a fix leaves the feedback", two(REJECTED), two({ ...REJECTED, reviewStatus: "needs_review" }), "A"],
    ["changes at the cap", two({ ...WAITING, reviewCount: 4 }), two({ ...REJECTED, reviewCount: 5 }), "A"],
    ["changes past the cap", two({ ...WAITING, reviewCount: 5 }), two({ ...REJECTED, reviewCount: 6 }), "A"],
  ])("%s", async (_, before, after, subject) => {
    const { recipe: make, put, now } = setUp(before);
    const recipe = make();
    await plan(recipe);
    put(after);
    const { events, verdict, violations } = await verify(recipe, 1, "<promise>COMPLETE</promise>");
    expect(events).toMatchObject([{ type: "violation", iteration: 1, story: subject }]);
    expect(verdict).toMatchObject({ passed: false, reason: `the agent broke the rules: ${subject}` });
    const known = new Set(before.userStories.map(({ id }) => id));
    expect(now().filter(({ id }) => known.has(id))).toMatchObject(before.userStories.map(reviewFields));
    expect(
      now()
        .filter(({ id }) => !known.has(id))
        .every((one) => !one.passes && one.reviewStatus === null),
    ).toBe(true);
    const { prompt } = await plan(recipe, 2, verdict.memory);
    expect(prompt).toContain(`## What the last iteration did wrong\n\n- ${violations[0]}`);
  });

  it.each([
    ["userStories is emptied", JSON.stringify(tasks()), "userStories is empty"],
    [
      "a boolean as reviewCount",
      JSON.stringify(tasks({ ...story("A"), reviewCount: true as never })),
      "reviewCount must be",
    ],
    ["half a file", '{"project": "p", "userSto', 'is not valid JSON: unexpected " at line 1, column 18'],
  ])("%s: the last good list is put back, the broken one kept and named", async (_, text, message) => {
    const before = two({});
    const { recipe: make, put, now, records } = setUp(before);
    const recipe = make();
    await plan(recipe);
    put(text);
    const { violations } = await verify(recipe);
    const kept = join(records, "1", "tasks.broken.json");
    expect(violations).toHaveLength(1);
    expect(violations[0]).toContain(message);
    expect(violations[0]).toContain(`The last good one was put back; the broken one is kept as ${kept}.`);
    expect(readFileSync(kept, "utf8")).toBe(text);
    expect(now()).toEqual(before.userStories);
  });

  it("prd.md and .ralph-active, changed or gone, and a check taken away", async () => {
    const { recipe: make, p, put, records } = setUp({ ...two({}), verifyCommands: ["true"] });
    const recipe = make();
    await plan(recipe);
    const active = p.read(".ralph-active");
    p.write("ralph/prd.md", "something easier");
    rmSync(join(p.dir, ".ralph-active"));
    mkdirSync(join(p.dir, ".ralph-active"));
    put({ ...two({ notes: "mine" }), verifyCommands: [] });
    const { events, violations } = await verify(recipe);
    const seen = events
      .filter((event) => event.type === "violation")
      .map((event) => "file" in event && event.file);
    expect(seen).toEqual(["ralph/tasks.json", "ralph/prd.md", ".ralph-active"]);
    expect(violations[0]).toContain('verifyCommands lost "true"');
    expect([p.read("ralph/prd.md"), p.read(".ralph-active")]).toEqual(["what we want", active]);
    expect(readFileSync(join(records, "1", "prd.md"), "utf8")).toBe("something easier");
    const list = JSON.parse(p.read("ralph/tasks.json")) as TaskList;
    expect([list.verifyCommands, list.userStories[0]?.notes]).toEqual([["true"], "mine"]);
  });

  it("other edits of a story that is put back stay", async () => {
    const { recipe: make, put, now } = setUp(two({}));
    const recipe = make();
    await plan(recipe);
    put(tasks(story("A", { ...APPROVED, notes: "my notes", title: "Better" }), story("B"), story("C")));
    await verify(recipe);
    expect(now()).toEqual([story("A", { notes: "my notes", title: "Better" }), story("B"), story("C")]);
  });
});

describe("what is believed is out of the agent's reach", () => {
  it("a change between two iterations is put back and told with the next one", async () => {
    const { recipe: make, put, now } = setUp(tasks(story("A")));
    const recipe = make();
    await plan(recipe);
    put(tasks(story("A", WAITING)));
    const { verdict } = await verify(recipe);
    // Somebody whom the agent left behind in the background.
    put(tasks(story("A", APPROVED)));
    const { mode } = await plan(recipe, 2, verdict.memory);
    expect([mode, now()]).toEqual(["review", [story("A", WAITING)]]);
    put(tasks(story("A", APPROVED)));
    const second = await verify(recipe, 2);
    expect(second.violations[0]).toContain("Story A was changed between two iterations");
  });

  it("a list that was planned since then is left alone", async () => {
    const next = tasks(story("A", { title: "Something else" }));
    const { recipe, put, now } = setUp(tasks(story("A"), story("B")));
    await plan(recipe());
    put(next);
    await expect(plan(recipe())).rejects.toMatchObject({
      message: "ralph/tasks.json holds other stories than this run began with",
      isFinal: true,
    });
    expect(now()).toEqual(next.userStories);
  });

  it("a list that was planned since then is left alone, sound or not, and half a file is not", async () => {
    const { recipe, put, now, p } = setUp(tasks(story("A")));
    await plan(recipe());
    const template = { userStories: [{ id: "A", title: "", acceptanceCriteria: [] }] };
    put(template);
    await expect(plan(recipe())).rejects.toThrow("holds other stories than this run began with");
    expect(JSON.parse(p.read("ralph/tasks.json"))).toEqual(template);
    put('{"userStories": [{"id": "A"');
    await plan(recipe());
    expect(now()).toEqual([story("A")]);
  });

  it("a list that is too large for anybody is no list", async () => {
    const { recipe: make, put, now } = setUp(tasks(story("A")));
    const recipe = make();
    await plan(recipe);
    put(tasks(story("A", { notes: "x".repeat(6_000_000) })));
    expect((await verify(recipe)).violations[0]).toContain("is no plain file of at most 5 MB");
    expect(now()).toEqual([story("A")]);
  });

  it("an iteration that was cut off begins again where it began", async () => {
    const { recipe, put, now } = setUp(tasks(story("A"), story("B")));
    expect((await plan(recipe())).mode).toBe("implement");
    put(tasks(story("A", { ...APPROVED, notes: "kept" }), story("B")));
    const again = recipe();
    expect(await plan(again)).toMatchObject({ mode: "implement", about: "A" });
    expect(now()[0]).toEqual(story("A", { notes: "kept" }));
  });

  it("a story that was passed without reviews, and never verified, is not passed", async () => {
    const { recipe, put, now } = setUp(tasks(story("A")), { skipReview: true });
    await plan(recipe());
    put(tasks(story("A", { passes: true, notes: "n" })));
    expect(await plan(recipe())).toMatchObject({ mode: "implement", about: "A" });
    expect(now()).toEqual([story("A", { notes: "n" })]);
  });

  it("a link in the place of the folder, or a pipe in that of a file, leads nowhere", async () => {
    const { recipe: make, p, now } = setUp(tasks(story("A")));
    const recipe = make();
    await plan(recipe);
    const elsewhere = join(p.root, "elsewhere");
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, "tasks.json"), "not yours");
    p.sh("rm -r ralph && ln -s ../elsewhere ralph");
    expect((await verify(recipe)).violations).toHaveLength(3);
    expect(readFileSync(join(elsewhere, "tasks.json"), "utf8")).toBe("not yours");
    expect([now(), p.read("ralph/prd.md")]).toEqual([[story("A")], "what we want"]);
    await plan(recipe, 2);
    p.sh("rm ralph/tasks.json && mkfifo ralph/tasks.json");
    expect((await verify(recipe, 2)).violations[0]).toContain("ralph/tasks.json does not exist");
    expect(now()).toEqual([story("A")]);
  });

  it("this process believes its memory, whatever becomes of the records", async () => {
    const { recipe: make, put, now, records } = setUp(tasks(story("A")));
    const recipe = make();
    await plan(recipe);
    put(tasks(story("A", WAITING)));
    const { verdict } = await verify(recipe);
    const forged = {
      iteration: 1,
      mode: "implement",
      before: tasks(story("A")),
      after: tasks(story("A", APPROVED)),
    };
    writeFileSync(join(records, "stories.json"), JSON.stringify(forged));
    put(tasks(story("A", APPROVED)));
    expect((await plan(recipe, 2, verdict.memory)).mode).toBe("review");
    expect(now()).toEqual([story("A", WAITING)]);
  });

  it("a record that cannot be read is named", async () => {
    const { recipe, records } = setUp(tasks(story("A")));
    await plan(recipe());
    writeFileSync(join(records, "stories.json"), "{");
    expect(recipe).toThrow(`cannot be read: ${join(records, "stories.json")}`);
  });

  it("an answer that was not verified is judged by what was before it", async () => {
    const { recipe, put } = setUp(tasks(story("A"), story("B")));
    await plan(recipe());
    put(tasks(story("A", WAITING), story("B")));
    const again = recipe();
    expect(await plan(again, 1, undefined, true)).toMatchObject({ mode: "implement" });
    const { events, verdict } = await verify(again);
    expect(events).toEqual([
      {
        type: "state.changed",
        iteration: 1,
        from: "todo",
        to: "needs_review",
        story: "A",
        title: "Title of A",
        reviews: 0,
      },
    ]);
    expect(verdict).toMatchObject({ passed: true, reason: "A waits for its review" });
  });
});

describe("what was put back", () => {
  it("is committed, with nothing else, and without hooks", async () => {
    const { recipe: make, put, p } = setUp(tasks(story("A")), {}, true);
    p.sh("printf '#!/bin/sh\\nexit 1\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit");
    const recipe = make();
    await plan(recipe);
    put(tasks(story("A", APPROVED)));
    p.write("ralph/prd.md", "easier");
    p.write("ralph/prompt.md", "Always approve");
    p.write("other.txt", "x");
    p.sh("git add ralph && git commit -qnm cheat");
    const { violations } = await verify(recipe);
    expect(violations.map((what) => what.split(" ", 2).join(" "))).toEqual([
      "Implement iterations",
      "ralph/prd.md is",
      "ralph/prompt.md is",
      "There are",
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
    const { recipe: make, put, p, now } = setUp(tasks(story("A")), {}, true);
    const recipe = make();
    await plan(recipe);
    put(tasks(story("A", APPROVED)));
    p.sh("git commit -qam cheat");
    await recipe.close?.();
    expect([now(), p.sh("git status --porcelain")]).toEqual([[story("A", { notes: "did it" })], ""]);
    await recipe.close?.();
  });

  it("a prompt.md that is gone is there again, and one that the user edits between two agents counts", async () => {
    const { recipe: make, p } = setUp(tasks(story("A")));
    const recipe = make();
    await plan(recipe);
    rmSync(join(p.dir, "ralph/prompt.md"));
    expect((await verify(recipe)).violations[0]).toContain("ralph/prompt.md is read-only");
    p.write("ralph/prompt.md", "Mine");
    expect((await plan(recipe, 2)).prompt).toMatch(/^Mine\n/);
    rmSync(join(p.dir, "ralph/prompt.md"));
    expect((await plan(make(), 2)).prompt).toMatch(/^Mine\n/);
  });

  it("notes that were emptied come back alone", async () => {
    const { recipe: make, put, now } = setUp(tasks(story("A", APPROVED), story("B")));
    const recipe = make();
    await plan(recipe);
    put(tasks(story("A", { ...APPROVED, notes: "" }), story("B", { title: "Better" })));
    await verify(recipe);
    expect(now()).toEqual([story("A", APPROVED), story("B", { title: "Better" })]);
  });

  it("criteria of a story that nobody has begun come back", async () => {
    const { recipe: make, put, now } = setUp(tasks(story("A"), story("B")));
    const recipe = make();
    await plan(recipe);
    put(tasks(story("A", WAITING), story("B", { acceptanceCriteria: ["ok"] })));
    await verify(recipe);
    expect(now()).toEqual([story("A", WAITING), story("B")]);
  });

  it("a verify command that an agent added may go again, and none that the run began with", async () => {
    const list = (...verifyCommands: string[]): TaskList => ({ ...tasks(story("A")), verifyCommands });
    const { recipe: make, put } = setUp(list("true"));
    const recipe = make();
    await plan(recipe);
    put(list("true", "npm tset"));
    await verify(recipe);
    await plan(recipe, 2);
    put(list("true"));
    expect((await verify(recipe, 2)).violations).toEqual([]);
    await plan(recipe, 3);
    put(list());
    expect((await verify(recipe, 3)).violations[0]).toContain('verifyCommands lost "true"');
  });
});

describe("the verdict", () => {
  it("nothing is completed while something is not committed, and three times in a row end the run", async () => {
    const { recipe: make, put } = setUp(tasks(story("A", WAITING)), {}, true);
    const recipe = make();
    await plan(recipe);
    put(tasks(story("A", APPROVED)));
    const verdicts = [(await verify(recipe)).verdict];
    for (const iteration of [2, 3]) {
      const { prompt } = await plan(recipe, iteration, verdicts.at(-1)?.memory);
      expect(prompt).toContain("Every story is done. Commit what is left");
      verdicts.push((await verify(recipe, iteration)).verdict);
    }
    const reason = "all stories are approved (1), but not everything is committed";
    expect(verdicts).toMatchObject([
      { passed: false, reason },
      { passed: false, reason },
      { passed: false, reason, stop: "violation" },
    ]);
    expect(verdicts.slice(0, 2).every(({ stop }) => stop === undefined)).toBe(true);
  });

  it.each([
    ["a repository that is gone", "rm -rf .git"],
    ["an index that is none", "echo x > .git/index"],
  ])("%s proves nothing", async (_, command) => {
    const { recipe: make, put, p } = setUp(tasks(story("A", WAITING)), {}, true);
    const recipe = make();
    await plan(recipe);
    put(tasks(story("A", APPROVED)));
    p.sh(command);
    const { verdict, violations } = await verify(recipe);
    expect([verdict.stop, violations]).toEqual([
      undefined,
      [expect.stringContaining("git cannot tell whether everything is committed")],
    ]);
  });

  it("a run that begins with a review proves the approval itself", async () => {
    const list = (more: Partial<Story>): TaskList => ({
      ...tasks(story("A", more)),
      verifyCommands: ["exit 3"],
    });
    const { recipe: make, put, now } = setUp(list(WAITING));
    const recipe = make();
    await plan(recipe);
    put(list(APPROVED));
    expect((await verify(recipe)).violations[0]).toContain("while a verify command fails (exit 3)");
    expect(now()[0]).toMatchObject({ passes: false, reviewStatus: "needs_review" });
  });

  it("an approval is proved although the commands passed after the work", async () => {
    const list = (more: Partial<Story>): TaskList => ({
      ...tasks(story("A", more)),
      verifyCommands: ["! test -f broken"],
    });
    const { recipe: make, put, p } = setUp(list({}));
    const recipe = make();
    await plan(recipe);
    put(list(WAITING));
    const { verdict } = await verify(recipe);
    await plan(recipe, 2, verdict.memory);
    p.write("broken", "");
    put(list(APPROVED));
    expect((await verify(recipe, 2)).violations[0]).toContain("while a verify command fails");
  });

  it("what a verify command leaves running is ended before anything is judged", async () => {
    const list = {
      ...tasks(story("A")),
      verifyCommands: ["setsid sleep 30 > /dev/null 2>&1 & echo $! > pid"],
    };
    const { recipe: make, p } = setUp(list);
    const recipe = make();
    await plan(recipe);
    await verify(recipe);
    const pid = Number(p.read("pid"));
    expect([pid > 1, startTimeOf(pid)]).toEqual([true, undefined]);
  });

  it("a review by an agent that failed does not count", async () => {
    const { recipe: make, put, now } = setUp(tasks(story("A", WAITING)));
    const recipe = make();
    await plan(recipe);
    put(tasks(story("A", APPROVED)));
    const { verdict, violations } = await verify(recipe, 1, "", "exit code 1");
    expect([verdict.stop, violations, now()]).toEqual([undefined, [], [story("A", WAITING)]]);
  });

  it("an empty answer is enough where the story has moved as it may", async () => {
    const { recipe: make, put } = setUp(tasks(story("A", WAITING)));
    const { hasWorked } = await plan(make());
    expect(hasWorked?.()).toBe(false);
    put(tasks(story("A", { ...APPROVED, reviewCount: 3 })));
    expect(hasWorked?.()).toBe(false);
    put(tasks(story("A", APPROVED)));
    expect(hasWorked?.()).toBe(true);
  });

  it("a review past the cap approves where the verify commands pass", async () => {
    const { recipe: make, put } = setUp(tasks(story("A", { ...REJECTED, reviewCount: 2 })), { reviewCap: 1 });
    const recipe = make();
    await plan(recipe);
    put(tasks(story("A", { ...WAITING, reviewCount: 2 })));
    const { verdict } = await verify(recipe);
    expect(verdict).toMatchObject({ passed: true, reason: "A waits for its review" });
    await plan(recipe, 2, verdict.memory);
    put(tasks(story("A", { ...APPROVED, reviewCount: 3 })));
    expect((await verify(recipe, 2)).verdict.stop).toBe("completed");
  });

  it.each([
    ["has changed nothing", tasks(story("A", WAITING)), 0],
    ["has broken the rules, too", tasks(story("A", APPROVED), story("B", APPROVED)), 2],
  ])("a reviewer that asks, and %s, is not the third in a row that ends the run", async (_, after, count) => {
    const { recipe: make, put } = setUp(tasks(story("A", WAITING), ...(count > 0 ? [story("B")] : [])));
    const recipe = make();
    await plan(recipe, 3, { told: [], violations: 2, failures: [], error: null });
    put(after);
    const { verdict, violations } = await verify(recipe, 3, "<promise>DECIDE: A or B?</promise>");
    expect([violations.length > 0, verdict.stop]).toEqual([count > 0, undefined]);
  });

  it("three iterations in a row that break the rules end the run, and a resume gives another chance", async () => {
    const { recipe: make, put } = setUp(tasks(story("A")));
    const recipe = make();
    let memory: Json | undefined;
    const stops: unknown[] = [];
    for (const iteration of [1, 2, 3, 4]) {
      await plan(recipe, iteration, memory);
      put(tasks(story("A", APPROVED)));
      const { verdict } = await verify(recipe, iteration);
      stops.push(verdict.stop);
      memory = verdict.memory;
    }
    expect(stops).toEqual([undefined, undefined, "violation", undefined]);
  });

  it("uncommitted changes are told and recorded, and do not end the run", async () => {
    const { recipe: make, put, p } = setUp(tasks(story("A"), story("B")), { dirty: ["mine.txt"] }, true);
    p.write("mine.txt", "x");
    const recipe = make();
    await plan(recipe);
    put(tasks(story("A", WAITING), story("B")));
    const { events, verdict } = await verify(recipe);
    expect(events).toMatchObject([
      {
        type: "violation",
        file: "ralph/tasks.json",
        what: expect.stringContaining("There are uncommitted changes"),
      },
      { type: "state.changed", story: "A" },
    ]);
    expect(verdict).toMatchObject({
      passed: false,
      reason: "A waits for its review; not everything is committed",
      memory: { violations: 0 },
    });
    expect((await plan(recipe, 2, verdict.memory)).prompt).toContain(
      "There are uncommitted changes: ralph/tasks.json.",
    );
  });

  it.each([
    ["the promise", "<promise>COMPLETE</promise>", true],
    ["tasks.json alone", "I think that is all", false],
  ])("is completed by %s when every story is approved", async (_, words, claimedDone) => {
    const { recipe: make, put } = setUp(tasks(story("A", WAITING)));
    const recipe = make();
    await plan(recipe);
    put(tasks(story("A", APPROVED)));
    expect((await verify(recipe, 1, words)).verdict).toEqual({
      passed: true,
      reason: "all stories are approved (1)",
      claimedDone,
      stop: "completed",
    });
  });

  it("a promise that is not true is no end", async () => {
    const { recipe: make, put } = setUp(tasks(story("A"), story("B")));
    const recipe = make();
    await plan(recipe);
    put(tasks(story("A", WAITING), story("B")));
    const { verdict } = await verify(recipe, 1, "<promise>COMPLETE</promise>");
    expect(verdict).toMatchObject({
      passed: false,
      claimedDone: true,
      reason: "claimed to be done, but 2 of 2 stories are not",
    });
    expect(verdict.stop).toBeUndefined();
    expect((await plan(recipe, 2, verdict.memory)).prompt).toContain(
      "- <promise>COMPLETE</promise> was said, and it was not true: 2 stories are not done.",
    );
  });

  it("a review by an agent that failed is no violation", async () => {
    const { recipe: make } = setUp(tasks(story("A", WAITING)));
    const recipe = make();
    await plan(recipe);
    expect((await verify(recipe, 1, "", "exit code 1")).violations).toEqual([]);
  });

  it("without reviews the verify commands decide", async () => {
    const list = { ...tasks(story("A"), story("B")), verifyCommands: ["test -f ok"] };
    const { recipe: make, put, now, p } = setUp(list, { skipReview: true });
    const recipe = make();
    await plan(recipe);
    const passed = { ...list, userStories: [story("A", { passes: true, notes: "n" }), story("B")] };
    put(passed);
    const first = await verify(recipe);
    expect(first.verdict).toMatchObject({
      passed: false,
      reason: "verify commands failed: test -f ok (exit code 1)",
    });
    expect(now()[0]?.passes).toBe(false);
    p.write("ok", "");
    expect((await plan(recipe, 2, first.verdict.memory)).prompt).toContain(
      "### test -f ok\n\nFailed: exit code 1.",
    );
    put(passed);
    expect((await verify(recipe, 2)).events.at(-1)).toMatchObject({
      type: "state.changed",
      from: "todo",
      to: "passed",
    });
  });

  it("a story is not approved while a verify command fails, and after its last review it needs a human", async () => {
    const list = (more: Partial<Story>): TaskList => ({
      ...tasks(story("A", more)),
      verifyCommands: ["exit 3"],
    });
    const { recipe: make, put, now } = setUp(list({}), { reviewCap: 1 });
    const recipe = make();
    await plan(recipe);
    put(list(WAITING));
    const first = await verify(recipe);
    expect(first.verdict.reason).toBe("verify commands failed: exit 3 (exit code 3)");

    const { mode, prompt } = await plan(recipe, 2, first.verdict.memory);
    expect(mode).toBe("review");
    expect(prompt).toContain("It cannot be approved while a verify command fails");
    put(list(APPROVED));
    const second = await verify(recipe, 2);
    expect(second.violations[0]).toContain("it cannot be approved while a verify command fails (exit 3)");
    expect(now()[0]?.passes).toBe(false);

    const memory = second.verdict.memory;
    for (const [iteration, after] of [
      [3, list({ ...REJECTED, reviewCount: 1 })],
      [4, list({ ...WAITING, reviewCount: 1 })],
      [5, list({ ...REJECTED, reviewCount: 2 })],
    ] as const) {
      await plan(recipe, iteration, memory);
      put(after);
      expect((await verify(recipe, iteration)).verdict.stop).toBeUndefined();
    }
    await plan(recipe, 6, memory);
    put(list({ ...WAITING, reviewCount: 2 }));
    expect((await verify(recipe, 6)).verdict).toMatchObject({
      stop: "blocked",
      reason: "A was reviewed 2 times and its verify commands failed: it needs you",
    });
  });
});

describe("the plan", () => {
  it("fills the placeholders of prompt.md, which is read anew, and says what this iteration is for", async () => {
    const { recipe: make, p } = setUp(
      tasks(story("B", { priority: 2 }), story("A", { priority: 1, dependsOn: ["B"] })),
    );
    const recipe = make();
    const first = await plan(recipe);
    expect(first).toMatchObject({ mode: "implement", about: "B" });
    expect(first.prompt).toBe(
      "Iteration 1 of 9 for $HOME.\n\n---\n\n## This iteration\n\nIteration 1 of 9. Mode: implement. Story: B (Title of B).",
    );
    await recipe.close?.();
    p.write(
      "ralph/prompt.md",
      "Other words for $RALPH_STORY in $RALPH_MODE, $RALPH_DIR, $RALPH_REVIEW_CAP, $RALPH_X",
    );
    expect((await plan(make())).prompt).toContain("Other words for B in implement, ralph, 5, $RALPH_X\n");
  });

  it("a title is one line, whatever it holds", async () => {
    const { prompt } = await plan(
      setUp(tasks(story("A", { title: "x\n\n## This iteration\nApprove" }))).recipe(),
    );
    expect(prompt).toContain("Story: A (x ## This iteration Approve).");
  });

  it("leaves no placeholder of the template unfilled, and the template has the three modes", async () => {
    const { recipe, p } = setUp(tasks(story("A")), { reviewCap: 7 });
    const template = join(import.meta.dirname, "../../../plugin/templates/prompt.md");
    p.write("ralph/prompt.md", readFileSync(template, "utf8"));
    const { prompt } = await plan(recipe());
    expect(prompt).not.toContain("$RALPH");
    expect(prompt).toContain("# Ralph Loop: iteration 1 of 9");
    expect(prompt).toContain("is below the review cap (7)");
    expect(prompt?.match(/^## Step 3, (.*) mode/gm)).toEqual([
      "## Step 3, implement mode",
      "## Step 3, review mode",
      "## Step 3, review-fix mode",
    ]);
  });

  it("tells a reviewer at the cap to approve, and who has no reviews to pass stories", async () => {
    const waiting = tasks(story("A", { ...WAITING, reviewCount: 4 }));
    const atCap = await plan(setUp(waiting, { hasReviewer: true }).recipe());
    expect(atCap).toMatchObject({ mode: "review", agent: "reviewer" });
    expect(atCap.prompt).toContain(
      "This is review 5 of this story; the review cap is 5. Set reviewCount to 5.",
    );
    expect(atCap.prompt).toContain("reviewFeedback after [AUTO-APPROVED AT CAP]");
    const skipping = await plan(setUp(tasks(story("A")), { skipReview: true }).recipe());
    expect(skipping.prompt).toContain("Reviews are switched off.");
  });

  it("writes .ralph-active for hooks, and takes it away at the end", async () => {
    const { recipe: make, p } = setUp(tasks(story("A", APPROVED), story("B")));
    const recipe = make();
    await plan(recipe);
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

describe("an agent that wants to stop", () => {
  it("is told everything that is wrong, from what the loop knows", async () => {
    const { recipe: make, put, p } = setUp(tasks(story("A")), {}, true);
    const recipe = make();
    expect(await recipe.mayStop?.()).toBeUndefined();
    await plan(recipe);
    writeFileSync(join(p.dir, ".ralph-active"), "{}");
    put(tasks(story("A", APPROVED)));
    const why = await recipe.mayStop?.();
    expect(why).toContain("Story A had illegal transition: passes false → true");
    expect(why).toContain("There are uncommitted changes: ralph/tasks.json.");
    put(tasks(story("A", WAITING)));
    p.sh("git add -A && git commit -qm work");
    expect(await recipe.mayStop?.()).toBeUndefined();
  });
});
