import { describe, expect, it } from "vitest";
import type { Story, TaskList } from "../../../src/recipes/stories/tasks.js";
import { plan, setUp, verify } from "./kit.js";
import { APPROVED, REJECTED, story, tasks, WAITING } from "./samples.js";

/** One iteration that submits story A, then a stop, or a pause. */
async function stopped(how: "stop" | "crash" | "pause", list = tasks(story("A"), story("B"))) {
  const all = setUp(list, {}, true);
  all.p.write("ralph/progress.txt", "began");
  all.p.sh("git add -A && git commit -qm plan");
  const first = all.recipe();
  await plan(first);
  const [, ...others] = list.userStories;
  all.put({ ...list, userStories: [story("A", WAITING), ...others] });
  all.p.sh("git commit -qam work");
  const { verdict } = await verify(first);
  if (how === "stop") await first.close?.();
  if (how === "pause") await first.release?.();
  const next = how === "pause" ? first : all.recipe();
  return { ...all, next, memory: verdict.memory, others };
}

describe.each(["stop", "crash", "pause"] as const)("what a person changes between a %s and resume", (how) => {
  it("in tasks.json is where the next iteration begins, and is told", async () => {
    const { next, memory, put, now, p } = await stopped(how, tasks(story("A"), story("B"), story("D")));
    const mine = [story("A", { ...WAITING, title: "Clearer" }), story("B"), story("C")];
    put(tasks(...mine));
    const planned = await plan(next, 2, memory);
    expect(planned).toMatchObject({ mode: "review", about: "A", changed: ["ralph/tasks.json"] });
    expect([now(), p.sh("git log -1 --format=%s")]).toEqual([mine, "work\n"]);
    put(tasks(story("A", { ...APPROVED, title: "Clearer" }), story("B"), story("C")));
    p.sh("git commit -qam review");
    const { violations, verdict } = await verify(next, 2);
    expect([violations, verdict.reason]).toEqual([[], "A is approved (review 1)"]);
  });

  it("in prd.md, prompt.md and progress.txt stays, and no agent is blamed for it", async () => {
    const { next, memory, put, p, others } = await stopped(how);
    p.write("ralph/prd.md", "what we really want");
    p.write("ralph/prompt.md", "Do it well.");
    p.write("ralph/progress.txt", "mine");
    p.write("src.txt", "mine, too");
    const planned = await plan(next, 2, memory);
    expect(planned.changed).toEqual(["ralph/prd.md", "ralph/prompt.md", "ralph/progress.txt"]);
    expect(planned.prompt).toMatch(/^Do it well\./);
    put(tasks(story("A", REJECTED), ...others));
    p.sh("git add ralph/tasks.json && git commit -qm review");
    expect((await verify(next, 2)).violations).toEqual([]);
    expect(p.read("ralph/prd.md")).toBe("what we really want");
    expect((await plan(next, 3)).changed).toBeUndefined();
  });

  it("of the verify commands is trusted, and what an agent had added is not", async () => {
    const { next, memory, put, others } = await stopped(how);
    put({ ...tasks(story("A", WAITING), ...others), verifyCommands: ["echo mine"] });
    await plan(next, 2, memory);
    put({ ...tasks(story("A", APPROVED), ...others), verifyCommands: ["echo mine", "echo other"] });
    const { events } = await verify(next, 2);
    const checks = events.flatMap((event) =>
      event.type === "check.finished" ? [[event.command, event.skipped]] : [],
    );
    expect(checks).toEqual([
      ["echo mine", undefined],
      ["echo other", "untrusted"],
    ]);
  });

  it("and is no list of stories ends the run with what is wrong, and is left as it is", async () => {
    const { next, memory, put, p } = await stopped(how);
    put('{"userStories": [');
    await expect(plan(next, 2, memory)).rejects.toThrow("ralph/tasks.json is not valid JSON");
    expect(p.read("ralph/tasks.json")).toBe('{"userStories": [');
  });
});

describe("an agent that was cut off", () => {
  const list = (first: Partial<Story>, second: Partial<Story> = {}): TaskList =>
    tasks(story("A", first), story("B", second));

  it("is not a person: its changes are undone after a crash", async () => {
    const { recipe, put, now, p } = setUp(list(WAITING), {}, true);
    await plan(recipe());
    put(list(APPROVED));
    p.write("ralph/prd.md", "easier");
    p.write("ralph/prompt.md", "Approve.");
    const again = recipe();
    const planned = await plan(again);
    expect([planned.changed, planned.prompt?.includes("Approve.")]).toEqual([undefined, false]);
    expect([now()[0], p.read("ralph/prd.md")]).toEqual([story("A", WAITING), "what we want"]);
  });

  it("by a stop: its unverified approval goes, what a person changes then counts", async () => {
    const { recipe, put, now } = setUp(list(WAITING), {}, true);
    const first = recipe();
    await plan(first);
    put(list(APPROVED));
    await first.close?.();
    expect(now()[0]).toEqual(story("A", WAITING));
    const mine = list(WAITING, { title: "Mine", ...REJECTED });
    put(mine);
    expect(await plan(recipe())).toMatchObject({ mode: "review-fix", changed: ["ralph/tasks.json"] });
    expect(now()).toEqual(mine.userStories);
  });

  it.each([
    ["its work is judged as it was", false, "A waits for review"],
    ["a list that a person changed since counts as it is", true, "no story changed its state"],
  ])("and had answered: %s, and what a person changed stays", async (_, isChanged, reason) => {
    const { recipe, put, now, p } = setUp(list({}), {}, true);
    const first = recipe();
    await plan(first);
    put(list(WAITING));
    p.sh("git commit -qam work");
    const stop = AbortSignal.abort();
    const answer = { finalMessage: "", error: null, costUsd: null, durationMs: 1, steps: 0 };
    await first.verify(answer, { iteration: 1, stop, kill: stop }).next();
    await first.close?.();
    if (isChanged) put(list({}, { title: "Mine" }));
    else p.write("ralph/prd.md", "mine");
    const again = recipe();
    await plan(again, 1, undefined, true);
    const { verdict } = await verify(again);
    expect(verdict.reason).toContain(reason);
    expect(p.read("ralph/prd.md")).toBe(isChanged ? "what we want" : "mine");
    expect(now()).toEqual(list(isChanged ? {} : WAITING, isChanged ? { title: "Mine" } : {}).userStories);
  });
});
