import { describe, expect, it } from "vitest";
import { createProject, type Project } from "../kit.js";

/** Two iterations: the first claims too much, the second is right. */
async function ran(p: Project = createProject()): Promise<Project> {
  p.agent([
    { text: "Done!\n<response>DONE</response>", bash: "echo one > a.txt", cost: 0.5 },
    {
      text: "Now it is.\n<response>DONE</response>",
      bash: "echo two >> a.txt; echo hi >> README.md",
      cost: 0.25,
    },
  ]);
  await p.ralph(
    "run",
    "-p",
    "x",
    "--agent",
    "claude",
    "--check",
    "grep two a.txt || { echo no two; exit 3; }",
    "--check",
    "true",
  );
  return p;
}

describe("ralph report", () => {
  it("shows the latest run of this folder as text", async () => {
    const p = await ran();
    const { code, stdout } = await p.ralph("report");
    const plain = stdout
      .replace(/\d{8}-\d{6}-\w{6}/g, "RUN")
      .replace(/(name +)[a-z]+-[a-z]+/, "$1NAME")
      .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, "WHEN")
      .replace(/\d+\.\ds/g, "0.1s")
      .replace(p.dir, "DIR")
      .replace(p.home, "HOME");
    expect({ code, plain }).toEqual({
      code: 0,
      plain: `✅ Completed
  run        RUN
  name       NAME
  task       x
  recipe     prompt
  agent      claude
  workspace  DIR
  started    WHEN UTC
  ended      WHEN UTC
  receipt    HOME/.ralph/runs/RUN/receipt.json
  re-check   ralph verify RUN
  reason     completed
  iterations 2 of 10
  time       0.1s
  cost       $0.75
  tokens     200 in / 20 out
  files      2 changed

Iterations
  #  TIME   COST  TOKENS  CHECKS  OUTCOME
  1  0.1s  $0.50  100/10     1/2  claimed to be done, but checks failed
  2  0.1s  $0.25  100/10     2/2  completed

Checks
  CHECK                                     ITERATIONS
  grep two a.txt || { echo no two; exit 3…  ✗✓
  true                                      ✓✓

Files changed
  CHANGE    LINES  PATH
  modified  +1 -0  README.md
  added     +2 -0  a.txt

Final message of iteration 2
  Now it is.
  <response>DONE</response>
`,
    });
  });

  it("is the whole story as JSON", async () => {
    const p = await ran();
    const { stdout } = await p.ralph("report", "--json");
    const report = JSON.parse(stdout) as { iterations: object[] };
    expect(report).toMatchObject({
      v: 1,
      recipe: "prompt",
      agent: "claude",
      workspace: p.dir,
      status: "finished",
      reason: "completed",
      success: true,
      exitCode: 0,
      message: null,
      costUsd: 0.75,
      inputTokens: 200,
      outputTokens: 20,
      filesChanged: 2,
      files: [
        { path: "README.md", change: "modified", added: 1, removed: 0 },
        { path: "a.txt", change: "added", added: 2, removed: 0 },
      ],
    });
    expect(report.iterations).toEqual([
      {
        iteration: 1,
        mode: null,
        about: null,
        agent: "claude",
        startedAt: expect.any(String),
        finished: true,
        passed: false,
        claimedDone: true,
        reason: "claimed to be done, but checks failed",
        durationMs: expect.any(Number),
        agentMs: expect.any(Number),
        costUsd: 0.5,
        inputTokens: 100,
        outputTokens: 10,
        tools: 1,
        toolErrors: 0,
        error: null,
        finalMessage: "Done!\n<response>DONE</response>",
        checks: [
          expect.objectContaining({
            passed: false,
            exitCode: 3,
            output: "no two\n",
            timedOut: false,
            signal: null,
          }),
          expect.objectContaining({ command: "true", passed: true, output: "" }),
        ],
        scm: [],
        states: [],
        violations: [],
        waits: [],
      },
      expect.objectContaining({ iteration: 2, passed: true, reason: "completed" }),
    ]);
  });

  it("is Markdown that the agent's words cannot break out of", async () => {
    const p = createProject();
    p.agent([{ text: "```\n</details>\n| x | <b>y</b>\n````\n<response>DONE</response>" }]);
    await p.ralph("run", "-p", "x", "--agent", "claude", "--check", "true | cat");
    const { stdout } = await p.ralph("report", "--markdown");
    expect(stdout).toContain("# ✅ Completed\n");
    expect(stdout).toContain("| <code>true &#124; cat</code> | ✅ |");
    expect(stdout).toContain(
      "`````text\n```\n</details>\n| x | <b>y</b>\n````\n<response>DONE</response>\n`````",
    );
  });

  it("is Markdown in which nothing else becomes a tag, a cell or a mention", async () => {
    const p = createProject();
    const nasty = "<img src=x onerror=alert(1)> @octocat a|b `c` https://example.invalid";
    p.program("nasty", `#!/bin/sh\ncat > /dev/null\necho '${nasty}' >&2\nexit 3\n`);
    await p.ralph("run", "-p", nasty, "--agent", "nasty", "-n", "1", "--check", "grep 'a\\|b' x");
    const { stdout } = await p.ralph("report", "--markdown");
    const outside = stdout.replace(/^```[\s\S]*?^```/gm, "");
    expect(outside).not.toMatch(/<img|@octocat|https:\/\/|[^|]\|b/);
    expect(outside).toContain("&#60;img src&#61;x onerror&#61;alert(1)&#62;");
    const rows = outside.split("\n").filter((line) => line.startsWith("| <code>grep"));
    expect(rows.map((row) => row.split("|").length)).toEqual([4]);
  });

  it("tells what became of commits and pushes", async () => {
    const p = createProject();
    p.settings({
      agent: { command: "claude" },
      scm: { command: "git", tasks: ["commit", "push origin HEAD"] },
    });
    p.agent([{ text: "<response>DONE</response>", bash: "echo x > a" }], { commit: "Add a" });
    await p.ralph("run", "-p", "x");
    const { stdout } = await p.ralph("report");
    expect(stdout).toMatch(/\nSCM\n {2}✗ push origin HEAD in iteration 1: .+\n/);
    for (const form of [["--markdown"], ["--html", "-"]]) {
      expect((await p.ralph("report", ...form)).stdout).toContain("push origin HEAD");
    }
  });

  it("tells a failed agent from a final message", async () => {
    const p = createProject();
    p.program("broken", "#!/bin/sh\ncat > /dev/null\necho boom >&2\nexit 7\n");
    await p.ralph("run", "-p", "x", "--agent", "broken", "--max-failures", "1");
    expect((await p.ralph("report")).stdout).toContain(
      "\nThe agent failed in iteration 1\n  exit code 7: boom\n",
    );
  });

  it("is one page with --html, to a file or to stdout, of a run by its id or the beginning of it", async () => {
    const p = await ran();
    const { code, stdout } = await p.ralph("report", "--html", "report.html");
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Report written to report.html\n" });
    expect(p.read("report.html")).toMatch(/^<!doctype html>/i);
    expect((await p.ralph("report", "--html", "-")).stdout).toBe(p.read("report.html"));
    const id = p.runFolder().split("/").at(-1) as string;
    for (const name of [id, id.slice(0, 10)]) expect((await p.ralph("report", name)).stdout).toContain(id);
    const denied = await p.ralph("report", "--html", "no/such/folder.html");
    expect([denied.code, denied.stderr]).toEqual([
      2,
      "ralph: error: no such folder: no/such (make it first)\n",
    ]);
  });

  it("shows a run that was stopped, with how to go on", async () => {
    const p = createProject();
    p.agent([{ text: "no" }]);
    await p.ralph("run", "-p", "x", "-n", "1", "--agent", "claude");
    const { stdout } = await p.ralph("report", "--no-emoji");
    expect(stdout).toContain("[ERR] Stopped: iterations, 1 of 1\n");
    expect(stdout).toMatch(/ {2}resume {5}ralph resume \S+ --max-iterations N\n/);
  });

  it("shows a run at work, and one that was killed", async () => {
    const p = createProject();
    p.program("slow", "#!/bin/sh\ncat > /dev/null\nsleep 60\n");
    const run = p.start(["run", "-p", "x", "--agent", "slow", "--json"]);
    await run.until((output) => output.includes('"agent.started"'));
    expect((await p.ralph("report")).stdout).toMatch(/^🔄 Still running\n/);
    run.child.kill("SIGKILL");
    await run.result;
    const { stdout } = await p.ralph("report");
    expect(stdout).toMatch(/^❌ Cut off: ralph was killed before it could finish\n/);
    expect(stdout).toMatch(/ {2}1 +\d+\.\ds +- +- +- {2}not finished\n/);
    expect((await p.ralph("runs", "--json")).stdout).toContain('"crashed"');
  });
});
