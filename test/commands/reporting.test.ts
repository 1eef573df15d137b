import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createProject, type Project, type Step } from "../kit.js";
import { workflowCommands } from "../runner.js";

const LOOP = ["loop", "make ok", "--agent", "claude", "--check", "test -f ok"];
const PASSES: Step[] = [{ text: "no" }, { bash: "touch ok", text: "COMPLETE" }];

function project(...steps: Step[]): Project {
  const p = createProject();
  p.agent(steps.length === 0 ? PASSES : steps);
  return p;
}

function actions(p: Project): NodeJS.ProcessEnv {
  return { CI: "true", GITHUB_ACTIONS: "true", GITHUB_STEP_SUMMARY: join(p.root, "summary.md") };
}

function summary(p: Project): string {
  return readFileSync(join(p.root, "summary.md"), "utf8");
}

describe("--report", () => {
  it("json goes to stdout, and the view to stderr", async () => {
    const { code, stdout, stderr } = await project().ralph(...LOOP, "--report", "json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ v: 1, reason: "all_checks_passed", recipe: "checks" });
    expect(stderr).toContain("--- Iteration 2/25 ---");
  });

  it.each([
    [["--report", "markdown", "--report-file"], "out/a/r.txt", "# ✅ Completed: all checks passed\n"],
    [["--report-file"], "r.MARKDOWN", "# ✅"],
    [["--report-file"], "r", "{"],
  ])("%j %s goes to a file, in folders that are made, and the view to stdout", async (flags, file, start) => {
    const p = project();
    const { code, stdout } = await p.ralph(...LOOP, ...flags, file);
    expect([code, p.read(file).slice(0, start.length)]).toEqual([0, start]);
    expect(stdout).toContain("--- Iteration 2/25 ---");
  });

  it("github has the annotations and the summary", async () => {
    const { stdout } = await project({ text: "no" }).ralph(...LOOP, "-n", "1", "--report", "github");
    expect(stdout).toMatch(
      /^::error title=ralph::Stopped: iterations, 1 of 1.*\n::error title=test -f ok \(exit 1\)::no output\n# ❌ /,
    );
  });

  it.each([
    ["file/r.json", "a part of the path is not a directory"],
    ["/proc/nope/a/r.json", "no such file"],
    ["/dev/full", "no space left on the disk"],
  ])(
    "that cannot be written to %s is an error on stderr, and the outcome of the run stands",
    async (file, why) => {
      const p = project();
      p.write("file", "");
      const { code, stdout, stderr } = await p.ralph(...LOOP, "--report-file", file);
      const [run] = readdirSync(join(p.home, ".ralph/runs"));
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: `ralph: error: cannot write the report ${file}: ${why} (ralph report ${run} shows it)\n`,
      });
      expect(stdout).toContain("all_checks_passed");
    },
  );

  it("of a run that did not succeed is written, too, and so is that of one that goes on", async () => {
    const p = project(...PASSES);
    const first = await p.ralph(...LOOP, "-n", "1", "--report-file", "r.json");
    expect(first.code).toBe(1);
    expect(JSON.parse(p.read("r.json"))).toMatchObject({ reason: "max_iterations", success: false });
    const second = await p.ralph("resume", "-n", "5", "--report-file", "r.json");
    expect(second.code).toBe(0);
    expect(JSON.parse(p.read("r.json"))).toMatchObject({ reason: "all_checks_passed", success: true });
  });
});

describe("in GitHub Actions", () => {
  it("the summary is added to the one of the step, and failed checks are annotations", async () => {
    const p = project({ text: "no" });
    writeFileSync(join(p.root, "summary.md"), "before\n");
    const run = p.start([...LOOP, "--check", "echo 'a, b: c'; exit 3", "-n", "1"], { env: actions(p) });
    const { code, stdout, stderr } = await run.result;
    expect(code).toBe(1);
    expect(stderr).toBe("");
    expect(summary(p)).toMatch(/^before\n# ❌ Stopped: iterations, 1 of 1\n/);
    expect(workflowCommands(stdout)).toEqual([
      expect.stringMatching(/^::error title=ralph::Stopped: iterations, 1 of 1: 2 of 2/),
      "::error title=test -f ok (exit 1)::no output",
      "::error title=echo 'a%2C b%3A c'; exit 3 (exit 3)::a, b: c",
    ]);
  });

  it("nothing is told where GITHUB_ACTIONS is not true", async () => {
    const p = project();
    const { stdout } = await p.start(LOOP, { env: { ...actions(p), GITHUB_ACTIONS: "1" } }).result;
    expect(workflowCommands(stdout)).toEqual([]);
    expect(existsSync(join(p.root, "summary.md"))).toBe(false);
  });

  it("a summary that cannot be written is an error on stderr, and the outcome of the run stands", async () => {
    const p = project();
    mkdirSync(join(p.root, "summary.md"));
    const { code, stderr } = await p.start(LOOP, { env: actions(p) }).result;
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^ralph: error: cannot write the summary of the step: /) as string,
    });
  });

  it("a report on stdout stays alone there", async () => {
    const p = project();
    const { stdout, stderr } = await p.start([...LOOP, "--report", "json"], { env: actions(p) }).result;
    expect(JSON.parse(stdout)).toMatchObject({ success: true });
    expect(workflowCommands(stderr)).toEqual(["::notice title=ralph::Completed: all checks passed"]);
  });

  const COMMANDS = "::set-output name=a::b\n  ::add-mask::c\n##[add-mask]d\nx ##[group]e\r::stop-commands::f";
  const hostile: Step[] = [
    {
      text: `words\n${COMMANDS}\nmore`,
      bash: `printf '%s' "${COMMANDS}"`,
      raw: [COMMANDS, { type: "system", subtype: COMMANDS }],
      stderr: `${COMMANDS}\n`,
    },
    { text: COMMANDS, exit: 3, stderr: `${COMMANDS}\n` },
    { text: "COMPLETE" },
  ];
  const PRINTS = `printf '%s\\n' '${COMMANDS}'; exit 1`;

  it.each([[[]], [["--verbose"]], [["--json"]], [["--report", "json"]], [["--report", "github"]]])(
    "what agents and checks say is no command to the runner (%j)",
    async (flags) => {
      const p = project(...hostile);
      const args = ["loop", `task\n${COMMANDS}`, "--agent", "claude", "--check", PRINTS, "-n", "2", ...flags];
      const { stdout, stderr, events } = await p.start(args, { env: actions(p) }).result;
      const told = [...workflowCommands(stdout), ...workflowCommands(stderr)];
      expect(told).toEqual([
        expect.stringMatching(/^::error title=ralph::Stopped: iterations, 2 of 2/),
        expect.stringMatching(/^::error title=printf /),
      ]);
      const said = events.flatMap((event) => (event.type === "agent.finished" ? [event.finalMessage] : []));
      if (flags.includes("--json")) expect(said[0]).toContain(COMMANDS);
    },
  );

  it("nor is it in ralph report", async () => {
    const p = project(...hostile);
    await p.ralph("loop", "t", "--agent", "claude", "--check", PRINTS, "-n", "1");
    for (const form of [[], ["--markdown"], ["--json"]]) {
      const { code, stdout, stderr } = await p.start(["report", ...form], { env: actions(p) }).result;
      expect([code, stderr, workflowCommands(stdout)]).toEqual([0, "", []]);
    }
  });
});
