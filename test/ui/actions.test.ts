import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { DiffPage, EntryPage, RunPage, StoryCard } from "../../src/ui/api.js";
import { createProject, eventually, type Project } from "../kit.js";
import { lanesProject, PARALLEL } from "../lanes/kit.js";
import { dashboardOf } from "./kit.js";

/** A real loop that stops after two iterations, each of which changed the same file. */
async function stopped(): Promise<{ p: Project; id: string }> {
  const p = createProject();
  p.agent([
    { bash: "echo one > a.txt" },
    { bash: "echo two > a.txt; echo b > b.txt" },
    { bash: "touch ok", text: "COMPLETE" },
  ]);
  await p.ralph("loop", "do it", "--check", "test -f ok", "--agent", "claude", "-n", "2", "--no-sandbox");
  const [{ id }] = JSON.parse((await p.ralph("runs", "--json")).stdout) as [{ id: string }];
  return { p, id };
}

test("each iteration has its diff, and a comment on one is refused when a later one has changed the file", async () => {
  const { p, id } = await stopped();
  const home = p.env["RALPH_HOME"] as string;
  const { get, post } = await dashboardOf(home);
  const diff = async (query: string): Promise<DiffPage> =>
    (await get(`/api/runs/${id}/diff${query}`)).json as DiffPage;
  const [first, second] = [await diff("?iteration=1"), await diff("?iteration=2")];
  expect(first.pieces.map(({ patch }) => patch.split("\n").filter((line) => /^\+\w/.test(line)))).toEqual([
    ["+one"],
  ]);
  expect(
    second.pieces.flatMap(({ patch }) => patch.split("\n").filter((line) => /^[+-]\w/.test(line))),
  ).toEqual(["-one", "+two", "+b"]);
  expect((await diff("?iteration=9")).why).toContain("there is no iteration 9");
  const comment = (page: DiffPage, iteration: number) => {
    const [piece] = page.pieces;
    const line = piece?.patch.split("\n").findIndex((one) => /^\+\w/.test(one));
    return post(`/api/runs/${id}`, {
      action: "comment",
      piece: piece?.id,
      commit: page.commit,
      iteration,
      line,
      text: "Why?",
    });
  };
  expect(await comment(first, 1)).toMatchObject({
    status: 409,
    json: { error: expect.stringContaining("has changed since") },
  });
  expect(await comment(second, 2)).toMatchObject({ status: 200 });
  const [steering] = JSON.parse(readFileSync(join(home, "runs", id, "steering.json"), "utf8")) as string[];
  expect(steering).toMatch(/^A comment on a\.txt, line 1 \(seen at commit \w{10}\):\n> \+two\nWhy\?$/);
});

test("a limit is raised, and the run goes on in a process that needs no dashboard", async () => {
  const { p, id } = await stopped();
  const before = { ...process.env };
  Object.assign(process.env, p.env);
  try {
    const { get, post, close } = await dashboardOf(p.env["RALPH_HOME"] as string);
    const page = (await get(`/api/runs/${id}`)).json as RunPage;
    expect(page.actions).toEqual(["raise", "steer"]);
    const raised = await post(`/api/runs/${id}`, { action: "raise", limits: { maxIterations: 5 } });
    expect(raised).toMatchObject({ status: 200 });
    close();
    await eventually(() => existsSync(join(p.dir, "ok")));
    // Its loop has let go of the folder.
    const locks = join(p.env["RALPH_HOME"] as string, "locks");
    await eventually(() => !readdirSync(locks).some((name) => name.endsWith(".json")));
    expect((await p.ralph("runs")).stdout).toContain("done");
  } finally {
    for (const name of Object.keys(p.env)) delete process.env[name];
    Object.assign(process.env, before);
  }
});

test("the board has every story of the list, also those that nobody has worked on", async () => {
  const p = createProject();
  p.agent([{ text: "nothing done" }]);
  const story = (id: string) => ({
    id,
    title: `Title of ${id}`,
    acceptanceCriteria: ["c"],
    priority: 1,
    passes: false,
  });
  p.write("prd.json", JSON.stringify({ userStories: [story("US-001"), story("US-002")] }));
  await p.ralph("stories", "import", "prd.json");
  p.sh("git add -A && git commit -qm stories");
  await p.ralph("stories", "run", "--agent", "claude", "-n", "1", "--no-sandbox");
  const [{ id }] = JSON.parse((await p.ralph("runs", "--json")).stdout) as [{ id: string }];
  const { get } = await dashboardOf(p.env["RALPH_HOME"] as string);
  const { stories } = (await get(`/api/runs/${id}`)).json as { stories: StoryCard[] };
  expect(stories).toMatchObject([
    { story: "US-001", state: "todo", iterations: 1 },
    { story: "US-002", state: "todo", iterations: 0 },
  ]);
});

test("the board of parallel stories shows what their lanes have come to, not the list that waits for the landing", async () => {
  const p = lanesProject(["US-001", { id: "US-002", dependsOn: ["US-001"] }], {
    work: { "US-001": "echo a > a.txt", "US-002": "echo b > b.txt" },
  });
  await p.ralph(...PARALLEL, "2");
  const [{ id }] = JSON.parse((await p.ralph("runs", "--json")).stdout) as [{ id: string }];
  const { get } = await dashboardOf(p.env["RALPH_HOME"] as string);
  const { stories, lanes } = (await get(`/api/runs/${id}`)).json as RunPage;
  expect(stories.map(({ story, state, reviews }) => [story, state, reviews])).toEqual([
    ["US-001", "approved", 1],
    ["US-002", "approved", 1],
  ]);
  expect(lanes.map(({ lane, standing, isQueued }) => [lane, standing, isQueued])).toEqual([
    ["US-001", "landed", false],
    ["US-002", "landed", false],
  ]);
  const { iterations } = (await get(`/api/runs/${id}/entries?line=0`)).json as EntryPage;
  expect(iterations.map(({ lane, iteration }) => `${lane} ${iteration}`)).toEqual([
    "US-001 1",
    "US-001 2",
    "US-002 1",
    "US-002 2",
  ]);
});

test("two agents in a race are two lanes, each with its iterations", async () => {
  const p = createProject();
  p.agent([{ bash: "touch ok", text: "COMPLETE" }]);
  p.program("other", "#!/bin/sh\ncat >/dev/null\necho COMPLETE\n");
  await p.ralph(
    "race",
    "do it",
    "--check",
    "test -f ok",
    "--agent",
    "claude",
    "--agent",
    "other",
    "-n",
    "1",
    "--no-sandbox",
  );
  const [{ id }] = JSON.parse((await p.ralph("runs", "--json")).stdout) as [{ id: string }];
  const { get } = await dashboardOf(p.env["RALPH_HOME"] as string);
  const page = (await get(`/api/runs/${id}`)).json as RunPage;
  expect(page.lanes).toHaveLength(2);
  expect(page.lanes.map(({ look }) => look)).toContain("passed");
  expect(page.actions).toEqual(["land", "pr"]);
  // Each lane has a limit of its own, so their sum is not "2 of 1".
  expect(page.row.maxIterations).toBe(0);
  expect(page.totals).toContainEqual(["iterations", "2 in all lanes"]);
  const [one] = page.iterations;
  expect((await get(`/api/runs/${id}/iterations/1?lane=${one?.lane}`)).json).toMatchObject({ error: "" });
  expect((await get(`/api/runs/${id}/iterations/1/files?lane=${one?.lane}`)).json).toMatchObject({
    files: expect.arrayContaining([{ name: "prompt.md", bytes: expect.any(Number) }]),
    name: "prompt.md",
    output: expect.stringContaining("do it"),
  });
  expect((await get(`/api/runs/${id}/iterations/1?lane=../..`)).status).toBe(404);
  const patches = async (query: string): Promise<string> =>
    ((await get(`/api/runs/${id}/diff${query}`)).json as DiffPage).pieces.map(({ patch }) => patch).join("");
  const whole = await patches("");
  expect(whole).toContain("b/ok");
  expect(await patches("?lane=claude-1")).toBe(whole);
  expect(await patches("?lane=claude-1&iteration=1")).toBe(whole);
  expect(await patches("?lane=other-1")).toBe("");
  expect((await get(`/api/runs/${id}/diff?iteration=1`)).json).toMatchObject({
    why: expect.stringContaining("works in lanes: claude-1, other-1"),
  });
  expect((await p.ralph("diff")).stdout).toContain("b/ok");
  await p.ralph("land", id);
  const after = (await get(`/api/runs/${id}`)).json as RunPage;
  expect(after.actions).toEqual([]);
  expect(after.facts).toContainEqual(["landed", expect.stringMatching(/^in main, at [0-9a-f]{9}$/)]);
  // They are gone.
  expect(
    after.facts.map(([name]) => name).filter((name) => /worktree|branch|land$|lanes/.test(name)),
  ).toEqual([]);
  expect(p.sh("git branch --list 'ralph/*/claude-1'")).toBe("");
  expect(after.row.line).toContain("which has landed");
  expect(after.row.lanes.map(({ lane, standing }) => `${lane} ${standing}`)).toEqual([
    "claude-1 won",
    "other-1 stopped",
  ]);
});
