import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { splitWords } from "../../src/words.js";
import { claudeProject, createProject, projectWith, type Step } from "../kit.js";

const DONE: Step = { text: "ok\n<response>DONE</response>" };
const CLAUDE = { agent: { command: "claude" } };

describe("ralph run: completion", () => {
  it("ends when the final message holds the completion response", async () => {
    const p = claudeProject({ text: "not yet" }, DONE);
    const { code, finished } = await p.ralph("run", "-p", "go", "--json");
    expect({ code, calls: p.calls() }).toEqual({ code: 0, calls: 2 });
    expect(finished).toMatchObject({
      success: true,
      reason: "completed",
      exitCode: 0,
      iterations: 2,
      costUsd: 0.02,
    });
  });

  it("takes work that is finished in the last allowed iteration as success", async () => {
    const p = claudeProject({ text: "no" }, DONE);
    expect((await p.ralph("run", "-p", "go", "-n", "2", "--max-cost", "0.02")).code).toBe(0);
  });

  it("ends as well when the done pattern matches the final message, after the checks", async () => {
    const p = projectWith(
      { guardrails: [{ command: "test -f ok" }] },
      { text: "All tasks complete" },
      { bash: "touch ok", text: "All tasks complete" },
    );
    const { code } = await p.ralph(
      ...splitWords("run -p go --done-pattern"),
      "(?i)^(?P<all>all) TASKS? complete\\Z",
    );
    expect({ code, calls: p.calls() }).toEqual({ code: 0, calls: 2 });
  });
});

describe("ralph run: what it costs", () => {
  it("loads nothing that measures text where there is no terminal", async () => {
    const p = claudeProject(DONE);
    const preload = join(p.root, "preload.cjs");
    writeFileSync(preload, "Intl.Segmenter = class { constructor() { throw new Error('measured'); } };");
    const { code, stderr } = await p.start(["run", "-p", "go"], {
      env: { NODE_OPTIONS: `--require=${preload}` },
    }).result;
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining("measured") });
  });

  it("reads the settings of git once, and compares with a commit only after a change", async () => {
    const p = claudeProject();
    const log = join(p.root, "git.log");
    p.program("git", `#!/bin/sh\necho "$1" >> ${log}\nexec /usr/bin/git "$@"\n`);
    await p.ralph("loop", "go", "--agent", "/bin/echo hi", "--check", "false", "-n", "4");
    const asked = readFileSync(log, "utf8").split("\n");
    const times = (name: string) => asked.filter((one) => one === name).length;
    expect({ config: times("config"), diff: times("diff") }).toEqual({ config: 1, diff: 1 });
  });
});

describe("ralph run: checks", () => {
  it("folds a failure onto the next prompt in the form that the seed prescribes", async () => {
    const p = projectWith(
      { guardrails: [{ command: "echo boom; test -f ok", failAction: "APPEND", hint: "make ok" }] },
      DONE,
      { bash: "touch ok", ...DONE },
    );
    const { code, stdout } = await p.ralph("run", "-p", "BASE", "--no-done-instruction");
    expect(code).toBe(0);
    expect(p.prompt(2)).toBe(
      [
        "BASE",
        "",
        'Guardrail "echo boom; test -f ok" failed with exit code 1.',
        "Hint: make ok",
        "Output file: .ralph/guardrail_1_echo_boom_test_f_ok.log",
        "Output (truncated):",
        "boom\n",
      ].join("\n"),
    );
    expect(p.read(".ralph/guardrail_1_echo_boom_test_f_ok.log")).toBe("boom\n");
    expect(stdout).toContain("Failed (exit 1");
    expect(stdout).toContain("APPEND");
  });

  it("runs all of them after one failed, and folds in their order", async () => {
    const p = projectWith(
      {
        guardrails: [
          { command: "echo one >&2; false", failAction: "APPEND" },
          { command: "echo two; exit 7", failAction: "PREPEND" },
          { command: "echo passes", failAction: "REPLACE" },
        ],
      },
      { text: "x" },
    );
    await p.ralph("run", "-p", "BASE", "-n", "2");
    const [first, base, second] = p.prompt(2).split(/\n{2,}/);
    expect(first).toMatch(/^Guardrail "echo two; exit 7" failed with exit code 7\./);
    expect(base).toBe("BASE");
    expect(second).toMatch(/^Guardrail "echo one >&2; false" failed with exit code 1\.[\s\S]*one/);
  });

  it("replaces the prompt with REPLACE, and puts the iteration header before it", async () => {
    const p = projectWith(
      { includeIterationCountInPrompt: true, guardrails: [{ command: "test -f ok", failAction: "REPLACE" }] },
      { text: "x" },
      { bash: "touch ok", ...DONE },
    );
    await p.ralph("run", "-p", "ORIGINAL", "-m", "5");
    expect(p.prompt(1)).toMatch(/^Iteration 1 of 5, 4 remaining\.\n\nORIGINAL\n\n/);
    expect(p.prompt(2)).toMatch(/^Iteration 2 of 5, 3 remaining\.\n\nGuardrail "test -f ok" failed/);
    expect(p.prompt(2)).not.toContain("ORIGINAL");
  });

  it("forgets a failure that is mended", async () => {
    const p = projectWith(
      { guardrails: [{ command: "test -f ok" }] },
      { text: "x" },
      { bash: "touch ok", text: "y" },
      DONE,
    );
    await p.ralph("run", "-p", "BASE", "--no-done-instruction");
    expect([p.prompt(1), p.prompt(3)]).toEqual(["BASE", "BASE"]);
  });

  it("tells the end of an output that is too long, keeps hints and the log whole", async () => {
    const hint = "h".repeat(60);
    const p = projectWith(
      { outputTruncateChars: 10, guardrails: [{ command: "printf 0123456789ABC; exit 1", hint }] },
      { text: "x" },
    );
    await p.ralph("run", "-p", "BASE", "-n", "2");
    expect(p.prompt(2)).toContain("Output (truncated):\n... [truncated]\n3456789ABC");
    expect(p.prompt(2)).toContain(`Hint: ${hint}\n`);
    expect(p.read(".ralph/guardrail_1_printf_0123456789ABC_exit_1.log")).toBe("0123456789ABC");
  });

  it("names logs by a slug of the command, and a second one of the same name apart", async () => {
    const long = `true ${"a-b ".repeat(30)}`;
    const p = projectWith(
      { guardrails: [{ command: "./mvnw -T 2C" }, { command: "./mvnw  -T=2C" }, { command: long }] },
      DONE,
    );
    await p.ralph("run", "-p", "go", "-n", "1");
    const logs = readdirSync(join(p.dir, ".ralph")).filter((name) => name.endsWith(".log"));
    expect(logs.sort()).toEqual([
      "guardrail_1_mvnw_T_2C.log",
      "guardrail_1_mvnw_T_2C_1.log",
      `guardrail_1_${"true_a_b_a_b_a_b_a_b_a_b_a_b_a_b_a_b_a_b_a_b_a_b_a_b".slice(0, 50)}.log`,
    ]);
  });

  it("fails one that does not end in time, with everything it started", async () => {
    const p = projectWith(
      { guardrails: [{ command: "setsid sleep 4711 & sleep 4711", timeout: "1s" }] },
      DONE,
    );
    const { code, events } = await p.ralph("run", "-p", "go", "-n", "2", "--json");
    const check = events.find((event) => event.type === "check.finished");
    expect({ code, check }).toMatchObject({ code: 1, check: { passed: false, timedOut: true } });
    expect(p.prompt(2)).toContain('" failed: timed out after 1.0s.');
    expect(p.sh("pgrep -fx 'sleep 4711' || true")).toBe("");
  });

  it("adds --check commands after those of the settings", async () => {
    const p = projectWith({ guardrails: [{ command: "echo first" }] }, DONE);
    const { events } = await p.ralph(
      ...splitWords("run -p go --check 'echo second' --check 'echo third' --json"),
    );
    const commands = events.flatMap((event) => (event.type === "check.finished" ? [event.command] : []));
    expect(commands).toEqual(["echo first", "echo second", "echo third"]);
  });

  it("leaves nothing in git status but what the agent did", async () => {
    const p = projectWith({ guardrails: [{ command: "true" }] }, DONE);
    p.sh("git add -A && git commit -qm settings");
    await p.ralph("run", "-p", "go");
    expect(p.sh("git status --porcelain")).toBe("");
  });
});

describe("ralph run: the prompt", () => {
  it("reads the prompt file anew for each iteration", async () => {
    const p = claudeProject({ bash: "echo second > P.md", text: "x" }, DONE);
    p.write("P.md", "first\n");
    await p.ralph("run", "-f", "P.md", "--no-done-instruction");
    expect([p.prompt(1), p.prompt(2)]).toEqual(["first\n", "second\n"]);
  });

  it("says how to end, unless the prompt does, also where a failure replaces it", async () => {
    const guardrails = [{ command: "test -f ok", failAction: "REPLACE" }];
    const end = "end your final message with <response>READY</response> on a line of its own";
    const p = projectWith(
      { completionResponse: "READY", guardrails },
      { text: "x", bash: 'echo "Say <response>ready</response>." >> P.md' },
      { text: "x", bash: "touch ok" },
      { text: "<response>READY</response>" },
    );
    p.write("P.md", "BASE\n");
    expect((await p.ralph("run", "-f", "P.md")).code).toBe(0);
    const isSaid = [1, 2, 3].map((call) => p.prompt(call).includes(end));
    expect(isSaid).toEqual([true, true, false]);
    expect(p.prompt(3)).toMatch(
      /^BASE\nSay <response>ready<\/response>\.\n\nIf you cannot continue .*<promise>BLOCKED: .*<promise>DECIDE: /,
    );
  });

  it("is left alone with --no-done-instruction", async () => {
    const p = claudeProject(DONE);
    await p.ralph("run", "-p", "BASE", "--no-done-instruction");
    expect(p.prompt(1)).toBe("BASE");
  });

  it("says so and stops when the prompt file is gone", async () => {
    const p = claudeProject({ bash: "rm P.md", text: "x" });
    p.write("P.md", "first\n");
    const { code, finished } = await p.ralph("run", "-f", "./P.md", "--json");
    expect({ code, finished }).toMatchObject({
      code: 1,
      finished: { reason: "error", iterations: 1, message: "prompt file not found: ./P.md" },
    });
  });

  it("brings prompts over 128 KiB to the agent, and keeps them out of its arguments", async () => {
    const p = claudeProject(DONE);
    const prompt = "x".repeat(300_000);
    p.write("P.md", prompt);
    expect((await p.ralph("run", "-f", "P.md")).code).toBe(0);
    expect(p.prompt(1).startsWith(prompt)).toBe(true);
    expect(p.args(1).join(" ")).not.toContain("xxx");
  });
});

/** What connects the agent's hooks with the loop. */
const HOOKS = expect.stringMatching(/^\{"hooks":/);

describe("ralph run: settings", () => {
  it("lays the local file over the base, and flags over both", async () => {
    const p = createProject();
    p.settings({ agent: { command: "claude", flags: ["--model opus", "--one"] }, maximumIterations: 7 });
    p.write(".ralph/settings.local.json", '{"agent":{"flags":["--two"]},"maximumIterations":2}');
    p.agent([{ text: "no" }]);
    expect((await p.ralph("run", "-p", "a", "--json")).finished.iterations).toBe(2);
    expect((await p.ralph("run", "-p", "a", "--json", "-n", "1")).finished.iterations).toBe(1);
    expect(p.args(1).slice(-1)).toEqual(["--two"]);
  });

  it("takes the model of the command line over one in the settings", async () => {
    const p = createProject();
    p.settings({ agent: { command: "claude", flags: ["--model opus", "--keep me"] } });
    p.agent([DONE]);
    await p.ralph("run", "-p", "a", "--model", "haiku");
    expect(p.args(1).slice(-7)).toEqual([
      ...["--model", "haiku", "--dangerously-skip-permissions", "--settings", HOOKS, "--keep", "me"],
    ]);
  });

  it("takes a profile by its name, with its variables", async () => {
    const p = createProject();
    const other = p.program(
      "other",
      '#!/bin/sh\ncat >/dev/null\necho "$1 $GREETING <response>DONE</response>"\n',
    );
    p.settings({ agents: { quick: { command: other, flags: ["--fast"], env: { GREETING: "hello" } } } });
    const { code, stdout } = await p.ralph("run", "-p", "a", "--agent", "quick");
    expect(code).toBe(0);
    expect(stdout).toContain("--fast hello <response>DONE</response>");
  });

  it("uses the one known agent on PATH when none is configured", async () => {
    const p = createProject();
    p.agent([DONE]);
    expect((await p.ralph("run", "-p", "a")).code).toBe(0);
  });

  it("asks for the final answer alone with --no-stream-agent-output", async () => {
    const p = claudeProject(DONE);
    const { code, stdout } = await p.ralph("run", "-p", "a", "--no-stream-agent-output");
    expect({ code, args: p.args(1) }).toEqual({
      code: 0,
      args: ["-p", "--output-format", "text", "--dangerously-skip-permissions", "--settings", HOOKS],
    });
    expect(stdout).not.toContain("<response>");
  });

  it("gives an older codex the flag that it knows, and today's the one that replaced it", async () => {
    const p = createProject();
    const answer =
      '{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"<response>DONE</response>"}}';
    for (const help of ["--full-auto  --sandbox <MODE>", "--sandbox <MODE>"]) {
      p.agent([{ onlyRaw: true, raw: [answer, { type: "turn.completed" }] }], { name: "codex", help });
      expect((await p.ralph("run", "-p", "a", "--agent", "codex", "-n", "1")).code).toBe(0);
      const unattended = help.includes("--full-auto") ? ["--full-auto"] : ["--sandbox", "workspace-write"];
      expect(p.args(1, "codex")).toEqual(["exec", "--json", ...unattended, "-"]);
    }
  });
});

describe("ralph run: SCM", () => {
  const scm = { command: "git", tasks: ["commit"] };

  it("commits what is not ignored with the agent's message when the checks pass", async () => {
    const p = createProject();
    p.settings({ ...CLAUDE, scm, guardrails: [{ command: "test -f ok" }] });
    p.write(".gitignore", "secret\n");
    p.agent(
      [
        { bash: "echo 1 > half", text: "x" },
        { bash: "touch ok new; echo s > secret", ...DONE },
      ],
      {
        commit: '\n<response>Add $(touch pwned) "ok"</response>\n',
      },
    );
    const { code, events } = await p.ralph("run", "-p", "a", "--json");
    expect(code).toBe(0);
    expect(p.sh("git log -1 --format=%s")).toBe('Add $(touch pwned) "ok"\n');
    expect(p.sh("git show --name-only --format= HEAD").split("\n").filter(Boolean).sort()).toEqual([
      ".gitignore",
      ".ralph/settings.json",
      "half",
      "new",
      "ok",
    ]);
    expect(p.exists("pwned")).toBe(false);
    expect(events.filter(({ type }) => type === "scm.finished")).toHaveLength(1);
  });

  const costly = () => {
    const p = createProject();
    p.settings({ ...CLAUDE, scm });
    const said = (words: string, cost: number) =>
      JSON.stringify({
        ...{ type: "result", subtype: "success", is_error: false, result: words, total_cost_usd: cost },
        usage: { input_tokens: 100, output_tokens: 10 },
      });
    p.program(
      "claude",
      `#!/bin/sh\ncase $(cat) in *"commit message"*) echo "$@" > ../args; echo '${said("Add a", 0.5)}' ;; *) touch a; echo '${said("<response>DONE</response>", 0.25)}' ;; esac\n`,
    );
    return p;
  };

  it("words the commit itself when the budget is spent", async () => {
    const p = costly();
    const { finished } = await p.ralph("run", "-p", "a", "--json", "--max-cost", "0.25");
    expect(finished).toMatchObject({ reason: "completed", costUsd: 0.25 });
    expect(p.sh("git log -1 --format=%s")).toBe("Work of ralph, iteration 1\n");
  });

  it("counts what the commit message costs, and gives it the rest of the budget", async () => {
    const p = costly();
    const { finished, events } = await p.ralph("run", "-p", "a", "--json", "--max-cost", "1");
    expect(p.sh("cat ../args")).toContain("--max-budget-usd 0.75");
    expect(p.sh("git log -1 --format=%s")).toBe("Add a\n");
    expect(finished).toMatchObject({
      reason: "completed",
      costUsd: 0.75,
      inputTokens: 200,
      outputTokens: 20,
    });
    expect(events.find(({ type }) => type === "scm.asked")).toMatchObject({ spent: { costUsd: 0.5 } });
  });

  it("goes back to the agent when a hook refuses the commit, although the agent says that it is done", async () => {
    const p = createProject();
    p.settings({ ...CLAUDE, scm });
    p.write(".git/hooks/pre-commit", "#!/bin/sh\ntest -f mended || { echo lint says no >&2; exit 1; }\n");
    p.sh("chmod +x .git/hooks/pre-commit");
    p.agent(
      [
        { bash: "touch a", ...DONE },
        { bash: "touch mended", ...DONE },
      ],
      { commit: "Add a" },
    );
    const { code, stderr } = await p.ralph("run", "-p", "BASE", "--no-done-instruction");
    expect(code).toBe(0);
    expect(stderr).toContain("scm commit failed: lint says no");
    expect(p.prompt(2)).toBe("BASE\n\ngit commit failed: lint says no");
    expect(p.sh("git log --format=%s -1 && git status --porcelain")).toBe("Add a\n");
  });

  it("writes no secret into the history that the agent put into the message", async () => {
    const p = createProject();
    p.env["DEPLOY_TOKEN"] = "a1b2c3d4-value-of-a-secret";
    p.settings({ ...CLAUDE, scm: { command: "git", tasks: ["commit"] } });
    p.agent([{ bash: "touch a", ...DONE }], { commit: `Deploy with ${p.env["DEPLOY_TOKEN"]}` });
    await p.ralph("run", "-p", "BASE");
    expect(p.sh("git log --format=%B -1")).toBe("Deploy with [redacted]\n\n");
  });

  it("is done when only the push fails", async () => {
    const p = createProject();
    p.settings({ ...CLAUDE, scm: { command: "git", tasks: ["commit", "push"] } });
    p.agent([{ bash: "touch a", ...DONE }], { commit: "Add a" });
    const { code, stderr } = await p.ralph("run", "-p", "BASE");
    expect(code).toBe(0);
    expect(stderr).toContain("scm push failed");
  });

  it("does not commit when nothing was changed, and runs the other tasks", async () => {
    const p = createProject();
    p.settings({ ...CLAUDE, scm: { command: "git", tasks: ["commit", "tag done"] } });
    p.sh("git add -A && git commit -qm settings");
    p.agent([DONE], { commit: "never" });
    const { events } = await p.ralph("run", "-p", "a", "--json");
    const done = events.flatMap((event) =>
      event.type === "scm.finished" ? [[event.task, event.message]] : [],
    );
    expect(done).toEqual([
      ["commit", "nothing to commit"],
      ["tag done", ""],
    ]);
    expect(p.sh("git tag")).toBe("done\n");
  });
});

describe("ralph run: output", () => {
  it("writes events and nothing else to stdout with --json", async () => {
    const p = projectWith({ guardrails: [{ command: "echo noise" }] }, { bash: "echo x", ...DONE });
    const { stdout, stderr } = await p.ralph("run", "-p", "a", "--json", "-V");
    const events = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { v: number; type: string; run: string });
    expect(events.map(({ type }) => type).filter((type) => type !== "agent.event")).toEqual([
      "run.started",
      "iteration.started",
      "agent.started",
      "agent.finished",
      "check.started",
      "check.finished",
      "iteration.finished",
      "run.finished",
    ]);
    expect(new Set(events.map(({ v, run }) => `${v} ${run}`)).size).toBe(1);
    expect(stderr).toContain("[ralph] Iteration 1/10 starting");
  });

  it("tells every step on stderr with --verbose", async () => {
    const p = projectWith({ guardrails: [{ command: "echo noise" }] }, DONE);
    p.write(".ralph/settings.local.json", "{}");
    const { stderr } = await p.ralph("run", "-p", "the prompt <response>", "--verbose", "--no-inhibit");
    expect(stderr).toMatch(
      new RegExp(
        [
          "\\[ralph\\] Loading settings from \\.ralph/settings\\.json",
          "\\[ralph\\] Loading settings from \\.ralph/settings\\.local\\.json",
          "\\[ralph\\] Settings: \\{.*\\}",
          "\\[ralph\\] Run \\S+ in .*",
          "\\[ralph\\] Iteration 1/10 starting",
          "\\[ralph\\] Agent command: claude -p .*",
          "\\[ralph\\] Prompt: the prompt <response>.*",
          "\\[ralph\\] Agent exited with code 0 \\(.*s\\)",
          "\\[ralph\\] Running check: echo noise",
          "\\[ralph\\] Check exited with code 0 \\(.*s\\)",
          "\\[ralph\\] Completion check: completed \\(iteration took .*s\\)",
        ].join("\n"),
      ),
    );
  });

  it("shows the summary alone with --quiet", async () => {
    const p = claudeProject({ bash: "touch new", ...DONE });
    const { stdout } = await p.ralph("run", "-p", "a", "-q", "--no-emoji");
    expect(stdout.split("\n").map((line) => line.trim().split(/\s+/)[0])).toEqual([
      "[OK]",
      "name",
      "reason",
      "iterations",
      "time",
      "cost",
      "tokens",
      "files",
      "log",
      "",
    ]);
    expect(stdout).toMatch(/files +1 changed/);
  });

  it("loses nothing when its reader is slow", async () => {
    const p = createProject();
    p.program(
      "loud",
      "#!/bin/bash\ncat >/dev/null\nyes 'some words of an agent' | head -n 40000\necho '<response>DONE</response>'\n",
    );
    const ralph = `${process.execPath} ${join(import.meta.dirname, "../../bin/ralph.js")}`;
    const last = p.sh(`${ralph} run -p a --agent loud -n 1 --json | (sleep 1; tail -1)`);
    expect(JSON.parse(last)).toMatchObject({ type: "run.finished", success: true });
  });

  it("goes on when its reader goes away", async () => {
    const p = claudeProject({ text: "no" }, { text: "no" }, DONE);
    p.sh(`${process.execPath} ${join(import.meta.dirname, "../../bin/ralph.js")} run -p a | head -1`);
    expect(p.calls()).toBe(3);
  });

  it("keeps prompt, raw stream and events in the run's folder", async () => {
    const p = claudeProject(DONE);
    await p.ralph("run", "-p", "the prompt", "--no-done-instruction");
    p.sh(`test "$(cat ${p.runFolder()}/iterations/001/prompt.md)" = "the prompt"`);
    expect(p.sh(`cat ${p.runFolder()}/iterations/001/agent.ndjson`)).toContain('"type":"result"');
    expect(p.sh(`tail -1 ${p.runFolder()}/journal.ndjson`)).toContain('"type":"run.finished"');
  });

  it("hides secrets of the environment and known token shapes in all it writes and shows", async () => {
    const p = projectWith(
      { guardrails: [{ command: "echo guard $MY_API_KEY; false" }] },
      {
        bash: "echo tool $MY_API_KEY",
        text: `text ghp_${"a".repeat(36)}`,
      },
    );
    const secret = "swordfish-42";
    const env = { MY_API_KEY: secret };
    const { all } = await p.ralphWith({ env }, "run", "-p", `use ${secret}`, "-n", "2", "-V");
    expect(p.prompt(1).startsWith(`use ${secret}\n`)).toBe(true);
    for (const word of [secret, "ghp_aaa"]) {
      expect(all).not.toContain(word);
      expect(p.sh(`grep -rl -- ${word} .ralph ${p.runFolder()} || true`)).toBe("");
    }
    expect(all).toContain("[redacted]");
  });
});
