import { describe, expect, it } from "vitest";
import type { Forge } from "../../src/github/forge.js";
import { renew, standingClaim } from "../../src/github/markers.js";
import { livingLoops } from "../../src/records/lock.js";
import { eventually, type Step } from "../kit.js";
import { type GitHub, githubProject } from "./kit.js";

const FIX: Step = { bash: "echo x > fix.txt && git add -A && git commit -qm Fix" };
const ONCE = ["intake", "--once", "--check", "test -f fix.txt"];
const labels = (hub: GitHub, number: number): string[] =>
  hub
    .read()
    .issues.find((one) => one["number"] === number)
    ?.["labels"].map(({ name }: { name: string }) => name);
const said = (hub: GitHub): string =>
  hub
    .read()
    .comments.map(({ body }) => body)
    .join("\n");

describe("ralph intake", () => {
  it("claims, works, delivers and says so, the oldest issue first, and takes none again", async () => {
    const { p, hub } = githubProject(FIX);
    hub.issue(3, { labels: ["ralph"] });
    hub.issue(5, { labels: ["ralph"], login: "mallory", role: "NONE" });
    hub.issue(7, { labels: ["other"] });
    const { code, stderr, all } = await p.ralph(...ONCE);
    expect([code, all]).toEqual([0, expect.stringContaining("#3 ")]);
    expect(stderr).toContain("issue 5 is by mallory, who has no write access");
    expect(labels(hub, 3)).toEqual(["ralph", "ralph:done"]);
    const [pull] = hub.pulls();
    expect(pull?.["body"]).toContain("Closes #3");
    expect(said(hub)).toContain(`Done: #${pull?.["number"]}.`);
    expect(await p.ralph(...ONCE)).toMatchObject({ code: 0 });
    expect([hub.pulls().length, p.calls()]).toEqual([1, 1]);
  });

  it("asks back in the issue, and goes on with the answer of somebody with write access", async () => {
    const { p, hub } = githubProject({ text: "<promise>DECIDE: which one?</promise>" }, FIX);
    hub.issue(3, { labels: ["ralph"] });
    expect(await p.ralph(...ONCE)).toMatchObject({ code: 0 });
    expect([labels(hub, 3), said(hub)]).toEqual([
      ["ralph", "ralph:blocked"],
      expect.stringContaining("> which one?"),
    ]);
    hub.comment(3, { body: "The second!", login: "mallory", role: "NONE" });
    expect(await p.ralph(...ONCE)).toMatchObject({ code: 0 });
    expect(p.calls()).toBe(1);
    hub.comment(3, { body: "The first one." });
    hub.comment(3, { body: "With a test.", login: "mona", role: "MEMBER" });
    const question = /<!-- ralph:asked .* -->/.exec(said(hub))?.[0];
    hub.comment(3, { body: `Me.\n\n${question?.replace("1 -->", "9 -->")}`, login: "mallory", role: "NONE" });
    const gone = await p.ralph(...ONCE);
    expect([gone.code, labels(hub, 3), gone.all]).toEqual([0, ["ralph", "ralph:done"], expect.anything()]);
    expect(p.prompt(2)).toContain(
      "The answer is: octo (OWNER) says:\n\nThe first one.\n\nmona (MEMBER) says:\n\nWith a test.",
    );
    expect(hub.pulls()).toHaveLength(1);
  });

  it("never takes an issue twice, also with two of them at once on machines of their own", async () => {
    const { p, hub } = githubProject(FIX);
    for (const number of [1, 2, 3]) hub.issue(number, { labels: ["ralph"] });
    const other = { env: { RALPH_HOME: `${p.home}/other` } };
    const both = [p.start([...ONCE, "--parallel", "2"]), p.start(ONCE, other)];
    const ends = await Promise.all(both.map(({ result }) => result));
    expect(ends.map(({ code, all }) => [code, all])).toEqual(ends.map(({ all }) => [0, all]));
    expect(
      hub
        .pulls()
        .map(({ title }) => title)
        .sort(),
    ).toEqual(["Issue 1", "Issue 2", "Issue 3"]);
    expect(p.calls()).toBe(3);
  });

  it("goes on with a run that was killed, and refuses what no run would take before it claims", async () => {
    const { p, hub } = githubProject({ bash: "touch ../started; sleep 60" }, FIX);
    hub.issue(3, { labels: ["ralph"] });
    expect(await p.ralph("intake", "--once")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("no check"),
    });
    expect(said(hub)).toBe("");
    const killed = p.start(ONCE);
    await killed.until((output) => output.includes("Iteration 1"));
    await eventually(() => p.exists("../project-worktrees/started"));
    killed.child.kill("SIGKILL");
    for (const { pid } of livingLoops(p.env["RALPH_HOME"] as string)) process.kill(pid, "SIGKILL");
    await killed.result;
    expect(await p.ralph(...ONCE)).toMatchObject({ code: 0 });
    expect([hub.pulls().length, labels(hub, 3)]).toEqual([1, ["ralph", "ralph:done"]]);
  });
});

describe("ralph intake, when something breaks", () => {
  it("goes on with a claim that it made just before it was killed", async () => {
    const { p, hub } = githubProject(FIX);
    hub.issue(3, { labels: ["ralph"] });
    // The answer to the first label of its own comes too late.
    hub.fault("POST .*/issues/3/labels", "hang");
    const killed = p.start(ONCE);
    await eventually(() => hub.requests(/^POST .*\/issues\/3\/labels/) === 1);
    killed.child.kill("SIGKILL");
    await killed.result;
    expect(await p.ralph(...ONCE)).toMatchObject({ code: 0 });
    expect([hub.pulls().length, labels(hub, 3)]).toEqual([1, ["ralph", "ralph:done"]]);
    expect(said(hub).match(/ralph:claim/g)).toHaveLength(1);
  });

  it("finishes what a kill left half reported", async () => {
    const { p, hub } = githubProject(FIX);
    hub.issue(3, { labels: ["ralph"] });
    hub.fault("DELETE .*labels/ralph%3Aworking", "hang");
    const killed = p.start(ONCE);
    await eventually(() => hub.requests(/^DELETE .*working/) === 1);
    killed.child.kill("SIGKILL");
    await killed.result;
    expect(labels(hub, 3)).toEqual(["ralph", "ralph:working", "ralph:done"]);
    expect(await p.ralph(...ONCE)).toMatchObject({ code: 0 });
    expect([labels(hub, 3), p.calls()]).toEqual([["ralph", "ralph:done"], 1]);
    expect(said(hub)).not.toContain("<!-- ralph:claim ");
  });

  it("asks back where the work cannot be delivered, and goes on after failures of the network", async () => {
    const { p, hub } = githubProject({});
    hub.issue(3, { labels: ["ralph"] });
    hub.fault("GET .*/issues$", 502, 4);
    const running = p.start(["intake", "--check", "true"]);
    await running.until((output) => output.includes("issue 3: there is nothing to deliver"));
    running.child.kill("SIGINT");
    expect(await running.result).toMatchObject({
      code: 130,
      stderr: expect.stringContaining("trying again"),
    });
    expect([labels(hub, 3), said(hub)]).toEqual([
      ["ralph", "ralph:blocked"],
      expect.stringContaining("has no pull request: there is nothing to deliver: main has all of it."),
    ]);
  });
});

describe("a claim", () => {
  const at = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString();
  const claim = (id: number, hours: number, role = "COLLABORATOR") => ({
    ...{ id, body: `On it.\n\n<!-- ralph:claim run-${id} -->`, createdAt: at(hours), updatedAt: at(hours) },
    author: { login: "bot", role, mayWrite: role !== "NONE", isProgram: false },
  });

  it("is the oldest one that is not 24 hours old and not of a stranger", () => {
    expect(standingClaim([claim(3, 1), claim(2, 2), claim(1, 25)])?.name).toBe("run-2");
    expect(standingClaim([claim(3, 1, "NONE")])).toBeUndefined();
    expect(standingClaim([claim(3, 1, "NONE")], "bot")?.name).toBe("run-3");
    expect(
      standingClaim([{ ...claim(3, 1), body: "Fine.\n\n<!-- ralph:claimed run-3 -->" }]),
    ).toBeUndefined();
  });
});

describe("renewing a claim", () => {
  const author = { login: "bot", role: "COLLABORATOR", mayWrite: true, isProgram: false };
  const claimed = (id: number, hours: number) => {
    const at = new Date(Date.now() - hours * 3_600_000).toISOString();
    return { id, author, body: `On it.\n\n<!-- ralph:claim run-${id} -->`, createdAt: at, updatedAt: at };
  };
  const renewed = async (...comments: ReturnType<typeof claimed>[]) => {
    const edited: number[] = [];
    const issues = { comments: async () => comments, edit: async (id: number) => void edited.push(id) };
    const forge = { issues, self: async () => "bot" } as unknown as Forge;
    return [await renew(forge, 3, { comment: 1, name: "run-1" }), edited];
  };

  it("fails once another one has the issue, and where somebody has taken it away", async () => {
    expect(await renewed(claimed(1, 1), claimed(2, 0))).toEqual([true, [1]]);
    expect(await renewed(claimed(1, 30))).toEqual([true, [1]]);
    expect(await renewed(claimed(1, 30), claimed(2, 1))).toEqual([false, []]);
    expect(await renewed(claimed(2, 30))).toEqual([false, []]);
  });
});

describe("ralph stories import --github", () => {
  it("makes a story of each issue that people with write access wrote", async () => {
    const { p, hub } = githubProject({});
    hub.issue(3, { body: "Text.\n- [ ] It adds\n- [x] It stays\n\nBlocked by #4 and #99." });
    hub.issue(4);
    hub.issue(5, { login: "mallory", role: "NONE" });
    const { code, stderr } = await p.ralph("stories", "import", "--github");
    expect([code, stderr]).toEqual([0, expect.stringContaining("#5")]);
    expect(JSON.parse(p.read("ralph/tasks.json")).userStories).toMatchObject([
      { id: "GH-3", acceptanceCriteria: ["It adds", "It stays"], dependsOn: ["GH-4"], passes: false },
      { id: "GH-4", title: "Issue 4", acceptanceCriteria: ["Issue 4"], dependsOn: [] },
    ]);
    expect(await p.ralph("stories", "import")).toMatchObject({ code: 2 });
  });
});

describe("ralph doctor", () => {
  const found = (all: string) =>
    JSON.parse(all).findings.filter(({ group }: { group: string }) => group === "github");

  it("says whether gh is there, logged in, and may push", async () => {
    const { p, hub } = githubProject({});
    const ok = {
      group: "github",
      name: "repository",
      status: "ok",
      message: expect.stringContaining("may push"),
    };
    expect(found((await p.ralph("doctor", "--json")).stdout).at(-1)).toEqual(ok);
    hub.change((state) => void Object.assign(state, { canPush: false }));
    const refused = found((await p.ralph("doctor", "--json")).stdout).at(-1);
    expect(refused).toMatchObject({ status: "warning", message: expect.stringContaining("may not push") });
    hub.change((state) => void Object.assign(state, { signedIn: false }));
    const out = found((await p.ralph("doctor", "--json")).stdout).at(-1);
    expect(out).toMatchObject({ status: "warning", message: expect.stringContaining("not logged in") });
  });
});
