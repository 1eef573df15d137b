import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createProject } from "../kit.js";

const SETTINGS = { agent: { command: "claude" } };

function project() {
  const p = createProject();
  p.settings(SETTINGS);
  p.agent([{ text: "<response>DONE</response>" }]);
  p.write("P.md", "x");
  p.write("empty.md", " \n");
  return p;
}

describe("wrong input", () => {
  it.each([
    ["no prompt", ["run"], "no prompt was given (give exactly one of --prompt TEXT and --prompt-file FILE)"],
    ["two prompts", ["run", "-p", "a", "-f", "P.md"], "--prompt and --prompt-file exclude each other"],
    ["an empty prompt", ["run", "-p", ""], "the prompt is empty"],
    ["an empty prompt file", ["run", "-f", "empty.md"], "the prompt file is empty: empty.md"],
    [
      "a prompt that can be read once",
      ["run", "-f", "/dev/null"],
      "cannot read prompt file: /dev/null (it is not a plain file)",
    ],
    ["an empty check", ["run", "-p", "a", "--check", ""], '--check "": expected something in it'],
    [
      "an empty pattern",
      ["run", "-p", "a", "--done-pattern", ""],
      '--done-pattern "": expected something in it',
    ],
    ["an empty response", ["run", "-p", "a", "-c", " "], '-c "": expected something in it'],
    ["a folder as agent", ["run", "-p", "a", "--agent", "."], "agent not found: ."],
    ["a missing prompt file", ["run", "-f", "nope.md"], "prompt file not found: nope.md"],
    ["a folder as prompt file", ["run", "-f", "."], "cannot read prompt file: . (it is a directory)"],
    ["an unknown command", ["rnu"], "unknown command 'rnu' (Did you mean run?)"],
    [
      "an unknown flag",
      ["run", "-p", "a", "--max-iteration", "5"],
      "unknown option '--max-iteration' (Did you mean --max-iterations?)",
    ],
    ["a stray word", ["run", "-p", "a", "words"], "too many arguments for 'run'"],
    ["a flag without its value", ["run", "-p"], "option '-p, --prompt <text>' argument missing"],
    ["-m 0", ["run", "-p", "a", "-m", "0"], "--max-iterations 0: expected a whole number of at least 1"],
    ["-m -1", ["run", "-p", "a", "-m", "-1"], "--max-iterations -1: expected a whole number of at least 1"],
    [
      "-m abc",
      ["run", "-p", "a", "-m", "abc"],
      "--max-iterations abc: expected a whole number of at least 1",
    ],
    ["-n 1.5", ["run", "-p", "a", "-n", "1.5"], "--max-iterations 1.5"],
    ["-n 1e9", ["run", "-p", "a", "-n", "1e9"], "--max-iterations 1e9"],
    ["a bad cost", ["run", "-p", "a", "--max-cost", "free"], "--max-cost free: expected an amount in USD"],
    ["no cost", ["run", "-p", "a", "--max-cost", "0"], "--max-cost 0: expected an amount in USD above 0"],
    ["bad tokens", ["run", "-p", "a", "--max-tokens", "many"], "--max-tokens many"],
    ["a bad time", ["run", "-p", "a", "--max-time", "soon"], "--max-time soon: expected a duration"],
    [
      "a bad timeout",
      ["run", "-p", "a", "--iteration-timeout", "-5"],
      "--iteration-timeout -5: expected a duration",
    ],
    ["a bad inactivity", ["run", "-p", "a", "--inactivity-timeout", "x"], "--inactivity-timeout x"],
    ["a bad failure count", ["run", "-p", "a", "--max-failures", "0"], "--max-failures 0"],
    ["a bad stuck count", ["run", "-p", "a", "--stuck-after", "-1"], "--stuck-after -1"],
    [
      "a bad pattern",
      ["run", "-p", "a", "--done-pattern", "("],
      "--done-pattern (: expected a regular expression",
    ],
    [
      "an unknown agent",
      ["run", "-p", "a", "--agent", "clade"],
      "agent not found: clade (did you mean claude?",
    ],
    ["an empty agent", ["run", "-p", "a", "--agent", ""], "agent not found: (empty)"],
    ["an open quote", ["run", "-p", "a", "--agent", "claude 'x"], "cannot split into words: claude 'x"],
    [
      "a model for a command",
      ["run", "-p", "a", "--agent", "cat", "--model", "x"],
      "agent cat takes no --model",
    ],
    [
      "a missing config",
      ["run", "-p", "a", "-C", "no.json"],
      "cannot read settings file no.json: no such file",
    ],
    [
      "an unknown run to resume",
      ["resume", "2026"],
      "no worker or run is called 2026 (ralph ls lists the workers, ralph runs the runs)",
    ],
    ["nothing to resume", ["resume"], "no unfinished run in"],
    ["nothing to pause", ["pause"], "no unfinished run in"],
    [
      "a flag without its command",
      ["-p", "fix it", "--check", "npm test"],
      "a command is missing before -p (did you mean: ralph run -p 'fix it' --check 'npm test')",
    ],
    [
      "a flag of another command",
      ["--lines", "5"],
      "a command is missing before --lines (did you mean: ralph logs",
    ],
    [
      "a task that looks like a flag",
      ["loop", "- fix it", "--check", "true"],
      "unknown option '- fix it' (a text that begins with - stands behind --, after the flags: ralph loop … -- '- fix it')",
    ],
    [
      "an answer that looks like a flag",
      ["answer", "r", "-yes"],
      "unknown option '-yes' (a text that begins with -",
    ],
    [
      "a task behind --worktree",
      ["loop", "--worktree", "fix it", "--check", "true"],
      'no task was given (--worktree took "fix it" for its own value; if that is the task, put it first: ralph loop "fix it" --worktree)',
    ],
    ["a prompt behind --worktree", ["run", "--worktree", "fix"], "no prompt was given (--worktree took"],
    [
      "a spec behind --worktree",
      ["pipeline", "run", "--worktree", "spec.md"],
      "missing required argument 'spec-file' (--worktree took \"spec.md\" for its own value; put it before --worktree)",
    ],
    ["an empty file name", ["run", "-f", ""], '-f, --prompt-file "": expected the name of a file'],
    ["an empty spec", ["loop", "--spec", "", "--check", "true"], '--spec "": expected the name of a file'],
    ["an empty folder", ["spawn", "--name", "w", "--cwd", ""], '--cwd "": expected the name of a folder'],
    [
      "two costs",
      ["run", "-p", "a", "--max-cost", "5", "--max-cost", "10"],
      '--max-cost was given twice: "5" and "10" (give --max-cost once)',
    ],
    [
      "two prompts of a kind",
      ["run", "-p", "a", "--prompt", "b"],
      '-p, --prompt was given twice: "a" and "b"',
    ],
    [
      "one limit under two names",
      ["run", "-p", "a", "-n", "1", "-m", "2"],
      '-n, --max-iterations and -m, --maximum-iterations are the same, and both were given: "1" and "2" (give one of them)',
    ],
    ["two agents", ["loop", "t", "--check", "true", "--agent=a", "--agent", "b"], "--agent was given twice"],
    ["two worktrees", ["run", "-p", "a", "--worktree", "x", "--worktree", "y"], "--worktree was given twice"],
    [
      "two ways to type",
      ["spawn", "--prompt-via", "keys", "--prompt-via", "stdin"],
      "--prompt-via was given twice",
    ],
  ] as [string, string[], string][])(
    "%s is one line that says what to do, exit 2, and starts nothing",
    async (_, args, message) => {
      const p = project();
      const { code, stdout, stderr } = await p.ralph(...args);
      expect({ code, stdout, lines: stderr.trimEnd().split("\n").length }).toEqual({
        code: 2,
        stdout: "",
        lines: 1,
      });
      expect(stderr).toContain(`ralph: error: ${message}`);
      expect({ calls: p.calls(), runs: p.sh("ls $RALPH_HOME/runs 2>/dev/null || true") }).toEqual({
        calls: 0,
        runs: "",
      });
    },
  );

  it.each([
    [
      "an unknown key",
      '{"maximumIteration": 3}',
      '.ralph/settings.json: unknown key "maximumIteration" (did you mean "maximumIterations"?)',
    ],
    [
      "a wrong type",
      '{"maximumIterations": "3"}',
      '.ralph/settings.json: maximumIterations has "3": expected number',
    ],
    [
      "a wrong word",
      '{"guardrails":[{"command":"x","failAction":"EXPLODE"}]}',
      '.ralph/settings.json: guardrails.0.failAction has "EXPLODE": expected one of "APPEND"|"PREPEND"|"REPLACE"',
    ],
    [
      "a nested unknown key",
      '{"agent":{"comand":"x"}}',
      'unknown key "agent.comand" (did you mean "command"?)',
    ],
    [
      "an unknown key in a list",
      '{"guardrails":[{"command":"x","hnt":"y"}]}',
      'unknown key "guardrails.0.hnt" (did you mean "hint"?)',
    ],
    [
      "a missing key",
      '{"guardrails":[{}]}',
      ".ralph/settings.json: guardrails.0.command is missing: expected string",
    ],
    [
      "malformed JSON",
      '{\n  "agent":\n}',
      "malformed settings file .ralph/settings.json: unexpected } at line 3, column 1",
    ],
    [
      "an empty file",
      "",
      "malformed settings file .ralph/settings.json: unexpected end of file at line 1, column 1",
    ],
    ["a list", "[]", ".ralph/settings.json: the file has []: expected object"],
  ])("%s in the settings names the file, the key and what was expected", async (_, text, message) => {
    const p = project();
    p.write(".ralph/settings.json", text);
    const { code, stderr } = await p.ralph("run", "-p", "a");
    expect({ code, lines: stderr.trimEnd().split("\n").length, calls: p.calls() }).toEqual({
      code: 2,
      lines: 1,
      calls: 0,
    });
    expect(stderr).toContain(message);
  });

  it("an agent that is not executable is said so", async () => {
    const p = project();
    const { code, stderr } = await p.ralph("run", "-p", "a", "--agent", "./P.md");
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `ralph: error: agent is not executable: ${p.dir}/P.md (chmod +x ${p.dir}/P.md)\n`,
    });
  });

  it("several known agents on PATH and none configured is a question", async () => {
    const p = project();
    p.settings({});
    p.agent([], { name: "codex" });
    const { code, stderr } = await p.ralph("run", "-p", "a");
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr:
        "ralph: error: no agent is configured, and several are on PATH: claude, codex (choose one with --agent NAME, or as agent.command in .ralph/settings.json)\n",
    });
  });

  it("SCM without a repository is told before anything starts", async () => {
    const p = createProject({ git: false });
    p.settings({ ...SETTINGS, scm: { command: "git", tasks: ["commit"] } });
    p.agent([{ text: "x" }]);
    const { code, stderr } = await p.ralph("run", "-p", "a");
    expect({ code, calls: p.calls() }).toEqual({ code: 2, calls: 0 });
    expect(stderr).toBe(
      `ralph: error: not a git repository: ${p.dir} (scm in the settings needs one: run git init, or remove scm)\n`,
    );
  });

  it("an scm command that is not there is told before anything starts", async () => {
    const p = project();
    p.settings({ ...SETTINGS, scm: { command: "hgx", tasks: ["commit"] } });
    const { code, stderr } = await p.ralph("run", "-p", "a");
    expect({ code, calls: p.calls() }).toEqual({ code: 2, calls: 0 });
    expect(stderr).toBe(
      "ralph: error: scm command not found: hgx (install it, or change scm.command in the settings)\n",
    );
  });

  it(".ralph as a file is told before anything starts", async () => {
    const p = createProject();
    p.write(".ralph", "");
    p.agent([{ text: "x" }]);
    const { code, stderr } = await p.ralph("run", "-p", "a");
    expect({ code, calls: p.calls() }).toEqual({ code: 2, calls: 0 });
    expect(stderr).toContain(`.ralph is not a folder: ${p.dir}/.ralph`);
  });

  it("a home that cannot be written to is told before anything starts", async () => {
    const p = project();
    p.write("file", "");
    const { code, stderr } = await p.start(["run", "-p", "a"], {
      env: { RALPH_HOME: join(p.dir, "file/home") },
    }).result;
    expect({ code, calls: p.calls() }).toEqual({ code: 2, calls: 0 });
    expect(stderr).toContain("set RALPH_HOME to another folder");
  });

  it.runIf(process.getuid?.() === 0)("Claude Code as root is refused with the ways out", async () => {
    const p = project();
    const { code, stderr } = await p.start(["run", "-p", "a"], { env: { IS_SANDBOX: "" } }).result;
    expect({ code, calls: p.calls() }).toEqual({ code: 2, calls: 0 });
    expect(stderr).toMatch(
      /does not skip permissions when it runs as root \(.*another user.*IS_SANDBOX=1.*edits/,
    );
  });

  it("a link planted where a log goes is replaced, not followed", async () => {
    const p = project();
    p.write("precious", "keep me");
    mkdirSync(join(p.dir, ".ralph"), { recursive: true });
    symlinkSync("../precious", join(p.dir, ".ralph/guardrail_1_true.log"));
    expect((await p.ralph("run", "-p", "a", "--check", "true")).code).toBe(0);
    expect(p.read("precious")).toBe("keep me");
  });
});

describe("help and version", () => {
  it.each([[["--version"]], [["-v"]]])("%s prints the version alone", async (args) => {
    const { code, stdout } = await createProject().ralph(...args);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });

  it.each(["run", "resume", "pause", "runs", "doctor"])(
    "ralph %s --help is help, exit 0",
    async (command) => {
      const { code, stdout } = await createProject().ralph(command, "--help");
      expect(code).toBe(0);
      expect(stdout).toMatch(new RegExp(`^Usage: ralph ${command}`));
    },
  );

  it("without a command shows the help", async () => {
    const { code, stdout } = await createProject().ralph();
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^Usage: ralph/) });
  });
});
