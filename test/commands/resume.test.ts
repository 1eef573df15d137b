import { appendFileSync, linkSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { claudeProject, createProject, eventually, isAlive, type Project, type Step } from "../kit.js";

const DONE: Step = { text: "<response>DONE</response>" };

interface Row {
  id: string;
  status: string;
  reason: string | null;
  iterations: number;
  costUsd: number | null;
}

/** As a process leaves it that is killed before it writes this. */
function cutJournal(p: Project, type: string): void {
  const journal = join(p.runFolder(), "journal.ndjson");
  const lines = readFileSync(journal, "utf8").split("\n");
  const end = lines.findIndex((line) => line.includes(`"type":"${type}"`));
  writeFileSync(journal, `${lines.slice(0, end).join("\n")}\n`);
}

async function rows(p: Project): Promise<Row[]> {
  return JSON.parse((await p.ralph("runs", "--json")).stdout) as Row[];
}

describe("ralph resume", () => {
  it("goes on after kill -9 with the same counters, cost and feedback, and runs the cut-off iteration again", async () => {
    const p = claudeProject(
      { text: "one", cost: 0.2 },
      { sleepMs: 60_000 },
      { text: "two", bash: "touch ok" },
      DONE,
    );
    const run = p.start(["run", "-p", "BASE", "-n", "4", "--check", "test -f ok", "--max-cost", "9"]);
    await eventually(() => p.calls() === 2);
    run.child.kill("SIGKILL");
    await run.result;
    expect(await rows(p)).toMatchObject([{ status: "crashed", reason: null, iterations: 1, costUsd: 0.2 }]);
    const { code, finished, events } = await p.ralph("resume", "--json");
    expect({ code, finished }).toMatchObject({
      code: 0,
      finished: { reason: "completed", iterations: 3, costUsd: expect.closeTo(0.22) as number },
    });
    expect(p.prompt(3)).toBe(p.prompt(2));
    expect(p.prompt(3)).toContain('Guardrail "test -f ok" failed');
    const numbers = events.flatMap((event) => (event.type === "iteration.started" ? [event.iteration] : []));
    expect(numbers).toEqual([2, 3]);
    expect(await rows(p)).toMatchObject([{ status: "finished", reason: "completed", iterations: 3 }]);
  });

  it("ends the agent that a killed ralph left behind", async () => {
    const p = claudeProject({ bash: "setsid bash -c 'echo $$ > stray.pid; sleep 4713' & sleep 4713" }, DONE);
    const run = p.start(["run", "-p", "a"]);
    await eventually(() => p.exists("stray.pid") && p.read("stray.pid") !== "");
    run.child.kill("SIGKILL");
    await run.result;
    const stray = Number(p.read("stray.pid"));
    expect(isAlive(stray)).toBe(true);
    expect((await p.ralph("resume")).code).toBe(0);
    expect(isAlive(stray)).toBe(false);
  });

  it("counts what the agent had reported before ralph was killed", async () => {
    const result = { type: "result", subtype: "success", result: "x", total_cost_usd: 0.7 };
    const p = claudeProject({ onlyRaw: true, raw: [result], sleepMs: 60_000 }, { ...DONE, cost: 0.1 });
    const run = p.start(["run", "-p", "a", "--json"]);
    await run.until((output) => output.includes('"costUsd":0.7'));
    await eventually(() =>
      readFileSync(join(p.runFolder(), "journal.ndjson"), "utf8").includes('"costUsd":0.7'),
    );
    run.child.kill("SIGKILL");
    await run.result;
    expect((await p.ralph("resume", "--json")).finished.costUsd).toBeCloseTo(0.8);
  });

  it("needs a higher limit to go on after a limit, and takes it", async () => {
    const p = claudeProject({ text: "no", cost: 0.5 }, { text: "no", cost: 0.5 }, DONE);
    await p.ralph("run", "-p", "a", "-n", "2");
    const refused = await p.ralph("resume");
    expect({ code: refused.code, calls: p.calls() }).toEqual({ code: 2, calls: 2 });
    expect(refused.stderr).toMatch(
      /has reached its limit \(max_iterations\): iterations, 2 of 2 \(raise it: ralph resume \S+ --max-iterations N\)/,
    );
    expect((await p.ralph("resume", "-n", "5", "--max-cost", "0.5")).stderr).toMatch(
      /\(budget_exhausted\): cost, \$1\.00 of \$0\.50 \(raise it: /,
    );
    const { code, finished } = await p.ralph("resume", "-n", "5", "--json");
    expect({ code, finished }).toMatchObject({ code: 0, finished: { iterations: 3, costUsd: 1.01 } });
    const [row] = JSON.parse((await p.ralph("ls", "--format", "json")).stdout);
    expect(row).toMatchObject({ iteration: 3, maxIterations: 5 });
    expect((await p.ralph("resume")).stderr).toContain("no unfinished run in");
  });

  it("verifies the answer of an interrupted iteration without asking again", async () => {
    const p = claudeProject({ sleepMs: 800, ...DONE });
    const run = p.start(["run", "-p", "a", "--check", "touch checked"]);
    await eventually(() => p.calls() === 1);
    run.child.kill("SIGINT");
    expect((await run.result).code).toBe(130);
    expect(p.exists("checked")).toBe(false);
    const { code, finished } = await p.ralph("resume", "--json");
    expect({ code, calls: p.calls(), checked: p.exists("checked"), finished }).toMatchObject({
      code: 0,
      calls: 1,
      checked: true,
      finished: { iterations: 1, costUsd: 0.01 },
    });
  });

  it("asks the same question again when it holds a secret, and needs the secret for it", async () => {
    const p = createProject();
    p.agent([{ text: "no" }, DONE]);
    const env = { DB_PASSWORD: "postgres" };
    const prompt = "migrate to postgres";
    await p.ralphWith({ env }, "run", "-p", prompt, "-n", "1");
    expect(p.sh("grep -rc postgres $RALPH_HOME/runs | grep -v ':0$' || true")).toBe("");
    const refused = await p.ralph("resume", "-n", "2");
    expect({ code: refused.code, calls: p.calls() }).toEqual({ code: 2, calls: 1 });
    expect(refused.stderr).toMatch(/used a secret that ralph did not store \(set DB_PASSWORD again\)/);
    expect((await p.ralphWith({ env }, "resume", "-n", "2")).code).toBe(0);
    expect(p.prompt(2).startsWith(prompt)).toBe(true);
  });

  it("refuses when a token was in the prompt itself, but not for the word that stands in for one", async () => {
    const p = claudeProject({ text: "no" }, { text: "no" }, DONE);
    await p.ralph("run", "-p", "explain [redacted]", "-n", "1");
    expect((await p.ralph("resume", "-n", "2")).code).toBe(1);
    expect(p.prompt(2)).toMatch(/^explain \[redacted\]\n/);
    await p.ralph("run", "-p", `use ghp_${"a".repeat(36)}`, "--agent", "false", "--max-failures", "1");
    const { code, stderr } = await p.ralph("resume");
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("used a secret that ralph did not store") as string,
    });
  });

  it("refuses when the agent is gone", async () => {
    const p = claudeProject({ text: "no" });
    await p.ralph("run", "-p", "a", "-n", "1");
    p.sh(`rm ${join(p.bin, "claude")}`);
    const { code, stderr } = await p.ralph("resume", "-n", "2");
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("agent not found: claude") as string,
    });
  });

  it("finishes without the agent when the work was verified before the crash", async () => {
    const p = claudeProject(DONE);
    await p.ralph("run", "-p", "a");
    const journal = join(p.runFolder(), "journal.ndjson");
    const lines = readFileSync(journal, "utf8").split("\n");
    writeFileSync(journal, `${lines.slice(0, -2).join("\n")}\n`);
    const { code, finished } = await p.ralph("resume", "--json");
    expect({ code, calls: p.calls(), finished }).toMatchObject({
      code: 0,
      calls: 1,
      finished: { iterations: 1 },
    });
  });

  it("closes a run that was killed when its limit was reached, as it would have ended", async () => {
    const p = claudeProject({ text: "no" });
    await p.ralph("run", "-p", "a", "-n", "1");
    cutJournal(p, "run.finished");
    expect(await rows(p)).toMatchObject([{ status: "crashed" }]);
    const { code, finished } = await p.ralph("resume", "--json");
    expect({ code, calls: p.calls(), finished }).toMatchObject({
      code: 1,
      calls: 1,
      finished: { reason: "max_iterations", iterations: 1, costUsd: 0.01 },
    });
    expect((await p.ralph("resume")).stderr).toContain("has reached its limit (max_iterations)");
  });

  it("verifies an answer that had used up the budget before it looks at the limits", async () => {
    const p = claudeProject({ ...DONE, cost: 0.5 });
    await p.ralph("run", "-p", "a", "--max-cost", "0.5", "--check", "true");
    cutJournal(p, "check.started");
    const { code, finished } = await p.ralph("resume", "--json");
    expect({ code, calls: p.calls(), finished }).toMatchObject({
      code: 0,
      calls: 1,
      finished: { reason: "completed", iterations: 1, costUsd: 0.5 },
    });
  });

  it("repairs a torn last line, and sets a damaged journal aside by name", async () => {
    const p = claudeProject({ text: "no" }, DONE);
    await p.ralph("run", "-p", "a", "-n", "1");
    const journal = join(p.runFolder(), "journal.ndjson");
    const lines = readFileSync(journal, "utf8").split("\n");
    writeFileSync(journal, lines.toSpliced(-3, 0, '{"v":1,"type":"check.fin').join("\n"));
    appendFileSync(journal, '{"v":1,"type":"run.fini');
    const { code, stderr } = await p.ralph("resume", "-n", "3");
    expect(code).toBe(0);
    const copy = readdirSync(p.runFolder()).find((name) => name.startsWith("journal.ndjson.corrupt-"));
    expect(stderr).toContain(
      `the journal had unreadable lines; ralph kept it as ${join(p.runFolder(), copy ?? "?")}`,
    );
    for (const line of readFileSync(journal, "utf8").trimEnd().split("\n"))
      expect(() => JSON.parse(line)).not.toThrow();
  });

  it("keeps the records of the first try of an iteration", async () => {
    const p = claudeProject({ raw: [{ type: "system", subtype: "first-try" }], sleepMs: 60_000 }, DONE);
    const run = p.start(["run", "-p", "a", "--json"]);
    await run.until((output) => output.includes("first-try") || output.includes('"agent.event"'));
    run.child.kill("SIGKILL");
    await run.result;
    await p.ralph("resume");
    expect(readdirSync(join(p.runFolder(), "iterations/001")).sort()).toEqual([
      "agent.2.ndjson",
      "agent.ndjson",
      "prompt.md",
    ]);
  });
});

describe("one loop per workspace", () => {
  it("refuses a second one, names who holds the folder, and lets the first go on", async () => {
    const p = claudeProject({ sleepMs: 1500, ...DONE });
    const first = p.start(["run", "-p", "a"]);
    await eventually(() => p.calls() === 1);
    const { code, stderr } = await p.ralph("run", "-p", "b");
    expect({ code, calls: p.calls() }).toEqual({ code: 2, calls: 1 });
    expect(stderr).toMatch(
      new RegExp(`another loop \\(pid ${first.child.pid}, run \\S+\\) is running in ${p.dir} \\(.*worktree`),
    );
    expect((await first.result).code).toBe(0);
    expect((await p.ralph("run", "-p", "c", "-n", "1")).code).toBe(0);
  });
});

describe("ralph pause", () => {
  it("waits after the agent at work until the run is resumed", async () => {
    const p = claudeProject({ sleepMs: 700, text: "one" }, DONE);
    const run = p.start(["run", "-p", "a", "--json", "--name", "night"]);
    await eventually(() => p.calls() === 1);
    expect((await p.ralph("pause")).stdout).toMatch(/^pausing run \S+: the current agent finishes first\n$/);
    expect((await p.ralph("pause")).stderr).toMatch(/^ralph: warning: run \S+ is already paused\n$/);
    await run.until((output) => output.includes('"run.paused"'));
    expect(await rows(p)).toMatchObject([{ status: "paused", iterations: 1 }]);
    expect(p.calls()).toBe(1);
    const refused = await p.ralph("resume", "--max-cost", "0.12", "-n", "9");
    expect([refused.code, refused.stderr]).toEqual([
      2,
      "ralph: error: --max-iterations cannot change while run night is paused (ralph kill night ends it, and ralph resume night --max-iterations=9 --max-cost=0.12 continues it)\n",
    ]);
    expect(p.calls()).toBe(1);
    expect((await p.ralph("resume")).stdout).toMatch(/^resumed run \S+\n$/);
    const { code, events } = await run.result;
    expect({ code, calls: p.calls() }).toEqual({ code: 0, calls: 2 });
    expect(events.filter(({ type }) => /paused|resumed/.test(type)).map(({ type }) => type)).toEqual([
      "run.paused",
      "run.resumed",
    ]);
  });

  it("ends a wait after a failure", async () => {
    const p = claudeProject({ exit: 1 }, { exit: 1 }, { exit: 1 }, { exit: 1 }, DONE);
    const run = p.start(["run", "-p", "a", "--json"]);
    await run.until((output) => output.includes('"seconds":4'));
    await p.ralph("pause");
    await run.until((output) => output.includes('"run.paused"'));
    expect(p.calls()).toBe(3);
    run.child.kill("SIGTERM");
    expect((await run.result).code).toBe(130);
  });
});

describe("ralph runs", () => {
  it("is a table, and says when there are none", async () => {
    const p = claudeProject(DONE);
    expect((await p.ralph("runs")).stdout).toBe(
      "No runs yet. Start one with: ralph loop TASK --check CMD, or ralph run TEXT\n",
    );
    await p.ralph("run", "-p", "a");
    const [head, row, ...totals] = (await p.ralph("runs")).stdout.split("\n");
    expect(head?.split(/\s+/)).toEqual(["RUN", "AGE", "TIME", "RESULT", "COST", "FOLDER", "TASK"]);
    expect(row).toMatch(/^\S+ +\d+s +[\d.]+s {2}done {4}\$0\.01 {2}project {2}a$/);
    expect(totals).toEqual(["", "1 run · $0.01 · 100% succeeded (1 of 1)", ""]);
  });

  it("shows those of this folder first, the newest first, and never more than the terminal is wide", async () => {
    const p = claudeProject(DONE);
    const task = "a long task ".repeat(20);
    await p.ralph("run", "-p", `here ${task}`);
    const other = join(p.dir, "other");
    mkdirSync(other);
    await p.ralphWith({ cwd: other }, "run", "-p", `other ${task}`);
    p.agent([{ text: "<promise>BLOCKED: which one?</promise>" }]);
    await p.ralph("run", "-p", `blocked ${task}`, "-n", "1");
    const shown = async (...flags: string[]) => (await p.ralph("runs", ...flags)).stdout.split("\n");
    const lines = await shown();
    expect(lines.slice(1, 4).map((line) => /asks|here|other/.exec(line)?.[0])).toEqual([
      "asks",
      "here",
      "other",
    ]);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    expect((await shown("-n", "1")).slice(2, -1)).toEqual([
      "",
      "2 more runs: ralph runs --all shows all of them",
      expect.stringContaining("3 runs"),
    ]);
    expect((await shown("--status", "blocked")).at(-2)).toMatch(/^1 run · .*0% succeeded \(0 of 1\)$/);
    expect((await shown("--since", "1ms")).at(-2)).toBe("No run matches.");
  });

  it("lists the latest twenty, and all of them when asked", async () => {
    const p = claudeProject(DONE);
    await p.ralph("run", "-p", "a");
    const [run, runs] = [p.runFolder(), join(p.runFolder(), "..")];
    for (let n = 1000; n <= 2000; n += 1) {
      const folder = join(runs, `20200101-000000-${n}`);
      mkdirSync(folder);
      for (const name of ["spec.json", "journal.ndjson"]) linkSync(join(run, name), join(folder, name));
    }
    const { stdout } = await p.ralph("runs");
    expect(stdout.split("\n").slice(21)).toEqual([
      "",
      "982 more runs: ralph runs --all shows all of them",
      "1002 runs · $10.02 · 100% succeeded (1002 of 1002)",
      "",
    ]);
    expect((await p.ralph("runs", "--all")).stdout.trimEnd().split("\n")).toHaveLength(1005);
    const all = await rows(p);
    expect(new Set(all.map((row) => JSON.stringify({ ...row, id: "" }))).size).toBe(1);
    expect(all).toHaveLength(1002);
  });

  it("ralph ls --status finds every run of today, however many there are", async () => {
    const p = claudeProject(DONE);
    p.agent([{ text: "<promise>BLOCKED: which one?</promise>" }]);
    await p.ralph("run", "-p", "a", "-n", "1");
    const [run, runs] = [p.runFolder(), join(p.runFolder(), "..")];
    for (let n = 1000; n < 1030; n += 1) {
      const folder = join(runs, `20990101-000000-${n}`);
      mkdirSync(folder);
      writeFileSync(
        join(folder, "journal.ndjson"),
        readFileSync(join(run, "journal.ndjson"), "utf8").replaceAll('"blocked"', '"max_iterations"'),
      );
      linkSync(join(run, "spec.json"), join(folder, "spec.json"));
    }
    const names = async (...flags: string[]) =>
      (await p.ralph("ls", "--format", "names", ...flags)).stdout.trim().split("\n").length;
    expect(await names()).toBe(20);
    expect(await names("--status", "stopped")).toBe(30);
    expect((await p.ralph("ls", "--status", "blocked")).stdout).toContain("blocked: question");
    expect((await p.ralph("ls", "--status", "done")).stdout).toBe(
      "No worker and no run of today matches. ralph runs lists all runs.\n",
    );
  });

  it("shows a prompt file by its name", async () => {
    const p = claudeProject(DONE);
    p.write("prompts/night.md", "do it");
    await p.ralph("run", "-f", join(p.dir, "prompts/night.md"));
    expect((await p.ralph("runs")).stdout.split("\n")[1]).toMatch(/ night\.md$/);
  });
});
