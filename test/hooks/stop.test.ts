import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { type HookInput, readInput } from "../../src/hooks/hook.cjs";
import { stop } from "../../src/hooks/stop.js";
import { createProject, type Project } from "../kit.js";

const STORY = {
  id: "US-001",
  title: "t",
  description: "",
  acceptanceCriteria: ["works"],
  priority: 1,
  passes: false,
  reviewStatus: null,
  reviewCount: 0,
  reviewFeedback: "",
  notes: "",
  dependsOn: [],
};
const APPROVED = { ...STORY, passes: true, reviewStatus: "approved", reviewCount: 1, notes: "did it" };
const SNAPSHOT = { "US-001": { passes: false, reviewStatus: null, reviewCount: 0 } };

const tasks = (story: object): string =>
  JSON.stringify({
    project: "p",
    branchName: "b",
    description: "d",
    verifyCommands: [],
    userStories: [story],
  });

interface Folder {
  tasks?: string;
  active?: object | string | undefined;
}

/** A project with everything committed; no `active`: no loop is at work. */
function project({ tasks: text = tasks(STORY), active }: Folder = {}): Project {
  const p = createProject();
  p.write(".gitignore", ".ralph-active\n");
  p.write("ralph/tasks.json", text);
  p.sh("git add -A && git commit -qm stories");
  if (active !== undefined)
    p.write(".ralph-active", typeof active === "string" ? active : JSON.stringify(active));
  return p;
}

async function stopping(p: Project, sent: object = {}, env: NodeJS.ProcessEnv = p.env) {
  const notes: string[] = [];
  const text = JSON.stringify({ session_id: "s", cwd: p.dir, stop_hook_active: false, ...sent });
  const answer = await stop(readInput(text) as HookInput, { env, note: (note) => notes.push(note) });
  return { reason: answer?.["reason"], decision: answer?.["decision"], notes };
}

const ALLOWED = { reason: undefined, decision: undefined, notes: [] };
const SKIPPED =
  "hook stop: what this iteration may change is not known (no preIterationSnapshot): transitions are not checked";

describe("a stop", () => {
  it("is not held by what a loop left behind that is gone", async () => {
    const { pid } = spawnSync("true");
    expect(await stopping(project({ tasks: "{oops", active: { pid } }))).toEqual(ALLOWED);
    // The second is of another machine, as in a container.
    for (const other of [process.pid, 2 ** 40]) {
      const held = await stopping(project({ tasks: "{oops", active: { pid: other } }));
      expect(held.decision).toBe("block");
    }
  });

  it("is fine when the stories are in order and everything is committed", async () => {
    const active = { iterationMode: "implement", preIterationSnapshot: SNAPSHOT };
    const story = { ...STORY, reviewStatus: "needs_review", notes: "did it" };
    expect(await stopping(project({ tasks: tasks(story), active }))).toEqual(ALLOWED);
  });

  it.each<[string, string, object, string]>([
    ["stories that are no JSON", "{oops", {}, "ralph/tasks.json is not valid JSON"],
    ["a story without a title", tasks({ ...STORY, title: undefined }), {}, "title"],
    [
      "a story that passed without approval",
      tasks({ ...APPROVED, reviewStatus: null }),
      {},
      "not 'approved'",
    ],
    [
      "an implement iteration that approves its own work",
      tasks(APPROVED),
      { iterationMode: "implement", preIterationSnapshot: SNAPSHOT },
      "Implement iterations cannot set passes=true or approve stories.",
    ],
  ])("is refused for %s", async (_, text, active, reason) => {
    const { decision, reason: told } = await stopping(project({ tasks: text, active }));
    expect(decision).toBe("block");
    expect(told).toContain(reason);
  });

  it("is refused for what is not committed, and says what to do", async () => {
    const p = project({ active: { iterationMode: "implement", preIterationSnapshot: SNAPSHOT } });
    p.write("new.txt", "x");
    const { decision, reason } = await stopping(p);
    expect({ decision, reason }).toEqual({ decision: "block", reason: expect.stringContaining("new.txt") });
    expect(reason).toContain("Commit ALL changes");
  });

  it.each<[string, object | string]>([
    ["no snapshot", { iterationMode: "implement" }],
    ["a snapshot that makes no sense", { iterationMode: "implement", preIterationSnapshot: { "US-001": 1 } }],
    ["a marker that is no JSON", "{oops"],
  ])("is judged by the state alone, with a warning, with %s", async (_, active) => {
    expect(await stopping(project({ tasks: tasks(APPROVED), active }))).toEqual({
      ...ALLOWED,
      notes: [SKIPPED],
    });
    const wrong = project({ tasks: tasks({ ...APPROVED, reviewStatus: null }), active });
    expect(await stopping(wrong)).toMatchObject({ decision: "block", notes: [SKIPPED] });
  });

  it("is refused five times, then let go and noted; the next stop counts anew", async () => {
    const p = project({ tasks: "{oops", active: {} });
    const decisions = [];
    for (const again of [false, true, true, true, true, true, false])
      decisions.push((await stopping(p, { stop_hook_active: again })).decision);
    expect(decisions).toEqual(["block", "block", "block", "block", "block", undefined, "block"]);
    for (let count = 0; count < 4; count += 1) await stopping(p, { stop_hook_active: true });
    const { notes } = await stopping(p, { stop_hook_active: true });
    expect(notes.at(-1)).toContain(
      "the agent was kept 5 times; let go with: ralph/tasks.json is not valid JSON",
    );
  });

  it.each<[string, object, object]>([
    ["no session", { session_id: undefined }, {}],
    ["a home that can't be written to", {}, { RALPH_HOME: "/dev/null/home" }],
  ])("is refused once with %s, because nobody can count", async (_, sent, env) => {
    const p = project({ tasks: "{oops", active: {} });
    const stopped = async (again: boolean) =>
      (await stopping(p, { ...sent, stop_hook_active: again }, { ...p.env, ...env })).decision;
    expect([await stopped(false), await stopped(true)]).toEqual(["block", undefined]);
  });

  it("is the loop's to judge where it answers itself", async () => {
    const p = project({ tasks: "{oops", active: {} });
    expect(await stopping(p, {}, { ...p.env, RALPH_HOOK_TOKEN: "t" })).toEqual(ALLOWED);
  });
});
