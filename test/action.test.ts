import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { createProject, NO_SANDBOX, type Project } from "./kit.js";
import { workflowCommands } from "./runner.js";

interface Step {
  id?: string;
  shell: string;
  run: string;
  env?: Record<string, string>;
}

interface Action {
  inputs: Record<string, { description: string; default?: string }>;
  outputs: Record<string, { value: string }>;
  runs: { using: string; steps: [install: Step, loop: Step] };
}

const ROOT = join(import.meta.dirname, "..");
const action = parse(readFileSync(join(ROOT, "action.yml"), "utf8")) as Action;
const [install, loop] = action.runs.steps;
const INPUT = /^\$\{\{ inputs\.([\w-]+) \}\}$/;

function project(): Project {
  const p = createProject();
  p.agent([
    { text: "no", cost: 0.25 },
    { bash: "touch ok", text: "COMPLETE", cost: 0.5 },
  ]);
  return p;
}

/** Runs a step as the runner does: `bash` with a file, and the inputs as variables. */
function runStep(p: Project, step: Step, inputs: Record<string, string> = {}, env: NodeJS.ProcessEnv = {}) {
  const script = join(p.root, "step.sh");
  const output = join(p.root, "output");
  writeFileSync(script, step.run);
  writeFileSync(output, "");
  const given = Object.entries(step.env ?? {}).map(([name, value]) => [
    name,
    inputs[INPUT.exec(value)?.[1] ?? ""] ?? "",
  ]);
  const { status, stdout, stderr } = spawnSync(
    "bash",
    ["--noprofile", "--norc", "-e", "-o", "pipefail", script],
    {
      cwd: p.dir,
      env: {
        ...p.env,
        CI: "true",
        GITHUB_ACTIONS: "true",
        GITHUB_ACTION_PATH: ROOT,
        GITHUB_OUTPUT: output,
        GITHUB_ENV: join(p.root, "env"),
        GITHUB_STEP_SUMMARY: join(p.root, "summary.md"),
        RUNNER_TEMP: p.root,
        ...(Object.fromEntries(given) as NodeJS.ProcessEnv),
        ...env,
      },
      encoding: "utf8",
    },
  );
  const lines = readFileSync(output, "utf8").trimEnd().split("\n");
  const outputs = Object.fromEntries(
    lines.map((line) => [line.split("=")[0], line.replace(/^[^=]*=/, "")]),
  ) as Record<string, string>;
  return { code: status, stdout, stderr, outputs };
}

/** A program that writes down its arguments, one per line and quoted, in place of ralph. */
function actionThatTells(p: Project): NodeJS.ProcessEnv {
  const folder = join(p.root, "action");
  mkdirSync(join(folder, "bin"), { recursive: true });
  const tell = "require('node:fs').writeFileSync('args.json', JSON.stringify(process.argv.slice(2)))";
  writeFileSync(join(folder, "bin/ralph.js"), tell);
  return { GITHUB_ACTION_PATH: folder };
}

function argumentsFor(inputs: Record<string, string>): string[] {
  const p = project();
  const { code, stderr } = runStep(p, loop, inputs, actionThatTells(p));
  expect({ code, stderr, pwned: p.exists("pwned") }).toEqual({ code: 0, stderr: "", pwned: false });
  const args = JSON.parse(p.read("args.json")) as string[];
  return args.filter((arg) => !arg.startsWith("--report"));
}

describe("action.yml", () => {
  it("is a composite action whose inputs reach its scripts as variables alone", () => {
    expect(action.runs.using).toBe("composite");
    expect(action.runs.steps.map(({ shell }) => shell)).toEqual(["bash", "bash"]);
    for (const { run } of action.runs.steps) expect(run).not.toContain("${{");
    const used = Object.values(loop.env ?? {}).map((value) => INPUT.exec(value)?.[1]);
    expect(used).toEqual(Object.keys(action.inputs));
  });
});

describe("the workflows of docs/guides/ci.md", () => {
  interface WorkflowStep {
    uses?: string;
    with?: Record<string, unknown>;
    run?: string;
  }
  interface Workflow {
    steps?: WorkflowStep[];
    jobs?: Record<string, { steps: WorkflowStep[] }>;
  }
  const page = readFileSync(join(ROOT, "docs/guides/ci.md"), "utf8");
  const workflows = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(
    ([, text]) => parse(text ?? "") as Workflow,
  );
  const steps = workflows.flatMap(({ steps: own = [], jobs = {} }) => [
    ...own,
    ...Object.values(jobs).flatMap((job) => job.steps),
  ]);

  it("use the action with four inputs that it has, and put nothing of others into a script", () => {
    const [use] = steps.filter(({ uses }) => uses?.startsWith("your-org/ralph@"));
    expect(Object.keys(use?.with ?? {})).toEqual(["task", "checks", "agent", "max-cost"]);
    expect(Object.keys(action.inputs)).toEqual(expect.arrayContaining(Object.keys(use?.with ?? {})));
    expect(steps.filter(({ run }) => run?.includes("${{"))).toEqual([]);
  });

  it("name every input and output in a table", () => {
    const names = [...Object.keys(action.inputs), ...Object.keys(action.outputs)];
    expect(names.filter((name) => !page.includes(`| \`${name}\` |`))).toEqual([]);
  });

  it("run as they stand", async () => {
    const p = project();
    p.program("ralph", `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, "bin/ralph.js")}" "$@"\n`);
    p.write("package.json", '{"scripts":{"test":"test -f ok","lint":"true"}}');
    const [step] = steps.filter(({ run }) => run?.startsWith("ralph loop"));
    const { code } = runStep(p, { shell: "bash", run: step?.run ?? "" }, {}, { TASK: "--make ok" });
    expect({ code, task: p.prompt(1).split("\n")[0] }).toEqual({ code: 0, task: "--make ok" });
  });
});

describe("the step that installs", () => {
  it("runs npm ci in the folder of the action, and only once", () => {
    const p = project();
    const folder = join(p.root, "action folder");
    mkdirSync(folder);
    p.program("npm", `#!/bin/sh\necho "$PWD: npm $*" >> ${p.root}/calls\nmkdir dist && touch dist/main.js\n`);
    for (const _ of [1, 2]) expect(runStep(p, install, {}, { GITHUB_ACTION_PATH: folder }).code).toBe(0);
    expect(readFileSync(join(p.root, "calls"), "utf8")).toBe(
      `${folder}: npm ci --include=dev --no-audit --no-fund\n`,
    );
  });
});

describe("the step that runs the loop", () => {
  it("needs a task, checks, an agent and a budget", () => {
    const p = project();
    const inputs = { task: "make ok", checks: "test -f ok\ntrue\n", agent: "claude", "max-cost": "2" };
    const { code, stdout, stderr, outputs } = runStep(p, loop, inputs);
    const named = Object.entries(action.outputs).map(([name, { value }]) => [name, value]);
    expect(named).toEqual(Object.keys(outputs).map((name) => [name, `\${{ steps.loop.outputs.${name} }}`]));
    const report = expect.stringMatching(/\/ralph-\w{6}\/report\.json$/) as string;
    expect({ code, stderr, outputs }).toEqual({
      code: 0,
      stderr: NO_SANDBOX,
      outputs: { success: "true", reason: "all_checks_passed", cost: "0.75", report },
    });
    expect(JSON.parse(readFileSync(outputs["report"] ?? "", "utf8"))).toMatchObject({ success: true });
    expect(workflowCommands(stdout)).toEqual(["::notice title=ralph::Completed: all checks passed"]);
    expect(readFileSync(join(p.root, "summary.md"), "utf8")).toContain("# ✅ Completed: all checks passed");
    expect(p.prompt(1)).toContain("- test -f ok\n- true\n");
  });

  it("fails with the exit code of ralph, and tells why", () => {
    const inputs = { task: "t", checks: "false", agent: "claude", "max-iterations": "1" };
    const { code, outputs } = runStep(project(), loop, inputs);
    expect({ code, outputs }).toMatchObject({
      code: 1,
      outputs: { success: "false", reason: "max_iterations", cost: "0.25" },
    });
  });

  it("tells that nothing was started", () => {
    const p = project();
    const { code, stderr, outputs } = runStep(p, loop, { task: "t", checks: " \n\n", agent: "claude" });
    expect({ code, stderr, outputs }).toEqual({
      code: 2,
      stderr: expect.stringContaining("ralph: error: no check was given") as string,
      outputs: { success: "false", reason: "", cost: "", report: "" },
    });
  });

  it("gives every input to ralph", () => {
    const inputs = {
      task: "not used",
      spec: "SPEC.md",
      checks: "npm test\r\n  npm run lint -- --fix\n",
      agent: "my-agent --quiet",
      model: "opus",
      "max-iterations": "5",
      "max-cost": "2.5",
      "max-time": "10m",
      "completion-tag": "DONE",
      worktree: "true",
      args: "--stuck-after 0\n--agent-flag '--a b' --agent-flag \"$HOME\"",
    };
    expect(argumentsFor(inputs)).toEqual([
      "loop",
      "--check=npm test",
      "--check=  npm run lint -- --fix",
      "--agent=my-agent --quiet",
      "--model=opus",
      "--max-iterations=5",
      "--max-cost=2.5",
      "--max-time=10m",
      "--completion-tag=DONE",
      "--worktree",
      "--stuck-after",
      "0",
      "--agent-flag",
      "--a b",
      "--agent-flag",
      "$HOME",
      "--spec=SPEC.md",
    ]);
  });

  it.each([
    ["false", []],
    ["night", ["--worktree=night"]],
    ["-n", ["--worktree=-n"]],
  ])("takes %j as worktree", (worktree, flags) => {
    const args = ["loop", "--check=true", ...flags, "--", "t"];
    expect(argumentsFor({ task: "t", checks: "true", worktree })).toEqual(args);
  });

  /** All that a shell, a runner or ralph itself could take for something else. */
  const NASTY =
    "$(touch pwned)`touch pwned`\"; touch pwned; \"'; touch pwned; '\n* \\ é ✓ \u2028 \u0024{{ github.token }} \u0024{HOME}";

  it.each([NASTY, "--version", "-- --help"])("takes %j as a task and nothing else", (task) => {
    expect(argumentsFor({ task, checks: "true" })).toEqual(["loop", "--check=true", "--", task]);
  });

  it.each([NASTY.replace("\n", ""), "--version"])("takes %j as one value, whichever input it is", (value) => {
    const inputs = { checks: value, agent: value, model: value, "completion-tag": value, spec: value };
    const flags = ["check", "agent", "model", "completion-tag", "spec"];
    expect(argumentsFor(inputs)).toEqual(["loop", ...flags.map((flag) => `--${flag}=${value}`)]);
  });

  it("does not expand what stands in args", () => {
    const args = '$(touch pwned) `touch pwned` ; touch pwned * "a b" \'c "d"\'';
    expect(argumentsFor({ task: "t", checks: "true", args })).toEqual([
      ...["loop", "--check=true", "$(touch", "pwned)", "`touch", "pwned`", ";", "touch", "pwned", "*"],
      ...["a b", 'c "d"', "--", "t"],
    ]);
  });

  it("fails where args cannot be understood, before anything is started", () => {
    const p = project();
    const { code, stderr } = runStep(p, loop, { task: "t", checks: "true", agent: "claude", args: "--a 'b" });
    expect(code).toBe(1);
    expect(stderr).toMatch(/unmatched single quote/);
    expect(p.calls()).toBe(0);
  });

  it("runs a hostile task from an issue as a task", () => {
    const p = project();
    const task = "Fix it\n\n$(touch pwned) `touch pwned`\n::set-output name=success::true\n--max-cost 99";
    const { code, stdout } = runStep(p, loop, { task, checks: "test -f ok", agent: "claude" });
    expect({ code, pwned: p.exists("pwned") }).toEqual({ code: 0, pwned: false });
    expect(p.prompt(1).startsWith(task)).toBe(true);
    expect(workflowCommands(stdout)).toHaveLength(1);
  });

  it("keeps what tells later steps something from agents and checks, and its own variables, too", () => {
    const p = project();
    const checks = "env | grep -c '^GITHUB_\\(ENV\\|PATH\\|OUTPUT\\|STATE\\)=\\|^RALPH_INPUT_' > seen; true";
    expect(runStep(p, loop, { task: "t", checks, agent: "claude" }).outputs["success"]).toBe("true");
    expect(p.read("seen")).toBe("0\n");
    expect(existsSync(join(p.root, "env"))).toBe(false);
  });

  it("takes an issue, in a worktree and with a pull request, and needs no more than its number", () => {
    const args = argumentsFor({ issue: "12", checks: "npm test" });
    expect(args).toEqual(expect.arrayContaining(["--issue=12", "--pr", "--worktree"]));
    expect(args).not.toContain("--trust-author");
    expect(argumentsFor({ issue: "12", checks: "x", "trust-author": "true" })).toContain("--trust-author");
  });

  it("takes the issues with a label, as ralph intake does", () => {
    const inputs = { label: "ralph", checks: "npm test", "max-cost": "5", "trust-author": "true" };
    const args = ["--check=npm test", "--max-cost=5", "--once", "--label=ralph", "--trust-author"];
    expect(argumentsFor(inputs)).toEqual(["intake", ...args]);
    const p = project();
    expect(runStep(p, loop, inputs, actionThatTells(p)).outputs).toMatchObject({
      success: "true",
      report: "",
    });
  });
});
