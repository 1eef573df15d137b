import { describe, expect, it } from "vitest";
import type { Story, TaskList } from "../../src/recipes/stories/tasks.js";
import { createProject, type Project, type Step } from "../kit.js";
import { story, tasks } from "../recipes/stories/samples.js";
import { APPROVE, edit, IMPLEMENT, project, REJECT, read, TASKS } from "./stories-kit.js";

describe("what a person changes while no agent is at work", () => {
  const changeAll = (p: Project): void => {
    const [first] = read(p) as [Story];
    p.write(TASKS, JSON.stringify(tasks({ ...first, description: "clearer" }, story("US-002"))));
    p.write("ralph/prd.md", "what we really want");
  };

  it("after an interrupt stays, and is told in one line", async () => {
    const p = project();
    p.agent([IMPLEMENT, { bash: "sleep 60" }]);
    const first = p.start(["stories", "run", "--json"]);
    await first.until((output) => output.split('"agent.started"').length === 3);
    first.child.kill("SIGINT");
    await first.until((output) => output.includes("Received signal"));
    first.child.kill("SIGINT");
    expect((await first.result).code).toBe(130);
    changeAll(p);
    p.agent([APPROVE]);
    const { stdout } = await p.ralph("resume", "--max-iterations", "2", "--no-color");
    expect(stdout).toContain("You changed ralph/tasks.json, ralph/prd.md: the run continues from there.\n");
    expect(read(p)).toMatchObject([
      { description: "clearer", passes: true, reviewStatus: "approved" },
      { id: "US-002" },
    ]);
    expect(p.read("ralph/prd.md")).toBe("what we really want");
    expect(p.sh("git log --format=%s")).not.toContain("put back");
  });
});

describe("the implementer's own test", () => {
  it("does not turn a review's word around", async () => {
    const p = project({ ...tasks(story("US-001")), verifyCommands: ["sh test.sh"] });
    const flip = edit('if(x.reviewCount){x.reviewStatus="approved";x.passes=true;x.reviewFeedback=""}');
    p.write("flip.sh", flip);
    const plant = 'echo "sh flip.sh" > test.sh';
    p.agent([
      { ...IMPLEMENT, bash: edit('x.reviewStatus="needs_review";x.notes="n"', plant) },
      REJECT,
      REJECT,
    ]);
    const { finished, events } = await p.ralph("stories", "run", "--json", "-n", "3");
    expect(finished.success).toBe(false);
    expect(read(p)[0]).toMatchObject({ passes: false, reviewStatus: "changes_requested" });
    const moves = events.flatMap((event) => (event.type === "state.changed" ? [event.to] : []));
    expect(moves).toEqual(["needs_review", "changes_requested"]);
  });
});

describe("settings of reviews", () => {
  const PASS: Step = { bash: edit('x.passes=true;x.notes="n"'), text: "passed" };

  it("skip reviews, unless the command line wants them", async () => {
    const p = project(undefined, true, { review: { skip: true } });
    p.agent([PASS]);
    expect((await p.ralph("stories", "run", "--json")).code).toBe(0);
    expect((await p.ralph("stories", "verify")).code).toBe(0);
    const q = project(undefined, true, { review: { skip: true } });
    q.agent([IMPLEMENT, APPROVE]);
    expect((await q.ralph("stories", "run", "--json", "--no-skip-review")).code).toBe(0);
    expect(read(q)[0]).toMatchObject({ reviewStatus: "approved", reviewCount: 1 });
  });

  it("set the cap and the reviewer", async () => {
    const p = project(undefined, true, { review: { cap: 1, agent: "critic" } });
    p.agent([IMPLEMENT]);
    p.agent([REJECT, APPROVE], { name: "critic" });
    expect((await p.ralph("stories", "status")).stdout).toContain("(review cap 1)");
    const { code, events } = await p.ralph("stories", "run", "--json");
    expect(code).toBe(0);
    const asked = events.flatMap((event) => (event.type === "agent.started" ? [event.agent] : []));
    expect(asked).toEqual(["claude", "critic", "critic"]);
    expect(events.filter(({ type }) => type === "violation")).toMatchObject([
      { what: expect.stringContaining("changes_requested at the review cap (1)") },
    ]);
  });

  it.each([
    [{ cap: 0 }, "review.cap"],
    [{ agent: " " }, "review.agent"],
    [{ caps: 2 }, "caps"],
  ])("%j is exit 2", async (review, message) => {
    const { code, stderr } = await project(undefined, true, { review }).ralph("stories", "run");
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});

describe("the template", () => {
  it("without reviews asks for nothing that a review would do", async () => {
    const p = createProject({ git: true });
    await p.ralph("stories", "init");
    p.write(TASKS, JSON.stringify(tasks(story("US-001"))));
    p.settings({ agent: { command: "claude" }, sandbox: { kind: "none" } });
    p.sh("git add -A && git commit -qm plan");
    p.agent([{ text: "nothing" }]);
    await p.ralph("stories", "run", "--skip-review", "-n", "1");
    const prompt = p.prompt(1);
    expect(prompt).toContain("set `passes: true`");
    expect(prompt).not.toMatch(/NEVER|needs_review|changes_requested|approve|review-fix|review mode|<!--/);
    await p.ralph("stories", "run", "-n", "1");
    expect(p.prompt(2)).toMatch(/NEVER set `passes: true`/);
    expect(p.prompt(2)).not.toMatch(/<!--|Reviews are switched off/);
  });

  it("a second init keeps what was written around the stories", async () => {
    const p = createProject();
    await p.ralph("stories", "init", "--name", "one");
    const written = { verifyCommands: ["npm test"], description: "mine", branchName: "ralph/mine", extra: 1 };
    const fresh = JSON.parse(p.read(TASKS)) as TaskList;
    p.write(TASKS, JSON.stringify({ ...fresh, ...written }));
    expect((await p.ralph("stories", "init")).code).toBe(0);
    expect(JSON.parse(p.read(TASKS))).toEqual({ ...fresh, ...written });
    await p.ralph("stories", "init", "--name", "two");
    expect(JSON.parse(p.read(TASKS))).toEqual({
      ...fresh,
      ...written,
      project: "two",
      branchName: "ralph/two",
    });
  });
});
