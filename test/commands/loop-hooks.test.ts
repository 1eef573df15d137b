import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createProject, type Project, projectWith } from "../kit.js";

/** An agent that has a full context, asks its http hooks as Claude Code does, and writes down what it heard. */
const AGENT = `#!/usr/bin/env node
const { readFileSync, writeFileSync } = require("node:fs");
readFileSync(0);
const given = process.argv[process.argv.indexOf("--settings") + 1];
const settings = JSON.parse(given.startsWith("{") ? given : readFileSync(given, "utf8"));
const heard = { given, settings, answers: [] };
async function ask(event, more = {}) {
  for (const { hooks } of settings.hooks[event] ?? []) for (const hook of hooks.filter(({ type }) => type === "http")) {
    const name = hook.allowedEnvVars[0];
    const authorization = hook.headers.Authorization.replace("\${" + name + "}", process.env[name]);
    const body = JSON.stringify({ session_id: "s", transcript_path: process.env.TRANSCRIPT, hook_event_name: event, cwd: process.cwd(), ...more });
    const response = await fetch(hook.url, { method: "POST", body, headers: { authorization } });
    heard.answers.push({ event, status: response.status, body: await response.json() });
  }
}
(async () => {
  await ask("PostToolUse"); await ask("PostToolUse");
  if (process.env.LEAVE) writeFileSync("left.txt", "");
  for (let stops = 0; stops < 7; stops += 1) await ask("Stop");
  await ask("PreToolUse", { tool_name: "Bash", tool_input: { command: "sudo rm -rf /" } });
  await ask("PreToolUse", { tool_name: "Write", tool_input: { file_path: "a.ts", content: "" } });
  writeFileSync("heard.json", JSON.stringify(heard));
  console.log(JSON.stringify({ type: "result", subtype: "success", is_error: false, result: "<response>DONE</response>\\n" + process.env.RALPH_HOOK_TOKEN }));
})();
`;

interface Heard {
  given: string;
  settings: { hooks: Record<string, { hooks: Record<string, unknown>[] }[]> } & Record<string, unknown>;
  answers: { event: string; status: number; body: Record<string, unknown> }[];
}

async function run(p: Project, ...flags: string[]): Promise<Heard> {
  p.program("claude", AGENT);
  const transcript = p.write("t.jsonl", "x".repeat(4000));
  const env = { CLAUDE_CONTEXT_WINDOW: "1000", TRANSCRIPT: transcript };
  const { code, all } = await p.ralphWith({ env }, "run", "-p", "x", "--agent", "claude", ...flags);
  expect({ code, all }).toMatchObject({ code: 0 });
  return JSON.parse(p.read("heard.json")) as Heard;
}

const TOLD = expect.stringMatching(
  /^\[CRITICAL\] About 90% of the context window is used\. Wrap up immediately\./,
);
const ANSWERS = [
  {
    event: "PostToolUse",
    status: 200,
    body: { hookSpecificOutput: { hookEventName: "PostToolUse", additionalContext: TOLD } },
  },
  { event: "PostToolUse", status: 200, body: {} },
  {
    event: "PreToolUse",
    status: 200,
    body: {
      hookSpecificOutput: {
        hookEventName: "PreToolUse",
        permissionDecision: "deny",
        permissionDecisionReason: expect.stringContaining("privilege escalation: sudo runs as another user"),
      },
    },
  },
  { event: "PreToolUse", status: 200, body: {} },
];

describe("an agent with hooks that ralph has started", () => {
  it("is told by the loop when its context fills up, once, and what it must not do", async () => {
    const { given, settings, answers } = await run(createProject());
    expect(given).toMatch(/^\{"hooks"/);
    expect(Object.keys(settings.hooks)).toEqual(["PostToolUse", "PreToolUse"]);
    expect(answers).toEqual(ANSWERS);
  });

  it("hears from the loop why it may not stop, five times at the most, and is verified all the same", async () => {
    const p = createProject();
    await p.ralph("stories", "init", "--name", "x");
    const story = { id: "US-001", title: "t", acceptanceCriteria: ["a"], priority: 1, passes: false };
    const review = { reviewStatus: null, reviewCount: 0, reviewFeedback: "" };
    const list = { project: "p", branchName: "b", description: "d", userStories: [{ ...story, ...review }] };
    p.write("ralph/tasks.json", JSON.stringify(list));
    p.write(".gitignore", ".ralph-active\nheard.json\n");
    p.sh("git add -A && git commit -qm stories");
    p.program("claude", AGENT);
    const started = p.start(["stories", "run", "--no-sandbox", "--agent", "claude", "-n", "1", "--json"], {
      env: { LEAVE: "1" },
    });
    const { code, events } = await started.result;
    const { answers } = JSON.parse(p.read("heard.json")) as Heard;
    const stops = answers.filter(({ event }) => event === "Stop").map(({ body }) => body);
    const blocked = {
      decision: "block",
      reason: expect.stringContaining("There are uncommitted changes: left.txt"),
    };
    expect(stops).toEqual([blocked, blocked, blocked, blocked, blocked, {}, {}]);
    expect({ code, types: events.map(({ type }) => type) }).toEqual({
      code: 1,
      types: expect.arrayContaining(["violation"]),
    });
  });

  it("proves with a token who it is, which is written nowhere", async () => {
    const p = createProject();
    await run(p);
    const records = p.sh(`cat $(find ${p.home}/.ralph/runs -type f)`);
    expect(records).toContain("<response>DONE</response>\\n[redacted]");
  });

  it("keeps the settings that the user gave it, given as JSON", async () => {
    const own = {
      model: "opus",
      hooks: { PostToolUse: [{ hooks: [{ type: "command", command: "true" }] }] },
    };
    const p = createProject();
    const { given, settings, answers } = await run(p, "--agent-flag", `--settings '${JSON.stringify(own)}'`);
    expect(settings["model"]).toBe("opus");
    expect(settings.hooks["PostToolUse"]?.map(({ hooks }) => hooks[0]?.["type"])).toEqual([
      "command",
      "http",
    ]);
    expect(answers).toEqual(ANSWERS);
    expect(existsSync(given)).toBe(false);
  });

  it("keeps the settings that the user gave it last, in a file that stays as it is", async () => {
    const p = createProject();
    const own = JSON.stringify({ env: { KEY: "value" } });
    p.write("own.json", own);
    const { given, settings, answers } = await run(
      p,
      "--agent-flag",
      "--settings other.json",
      "--agent-flag",
      "--settings=own.json",
    );
    expect({ env: settings["env"], answers, file: p.read("own.json") }).toEqual({
      env: { KEY: "value" },
      answers: ANSWERS,
      file: own,
    });
    expect(existsSync(given)).toBe(false);
  });

  it("gets the settings of the user untouched when they can't be read", async () => {
    const p = createProject();
    p.agent([{ text: "<response>DONE</response>" }]);
    await p.ralph("run", "-p", "x", "--agent", "claude", "--agent-flag", "--settings=missing.json");
    expect(p.args(1).filter((arg) => arg.startsWith("--settings"))).toEqual(["--settings=missing.json"]);
  });

  it("is not asked for a commit message with hooks", async () => {
    const p = projectWith(
      { scm: { command: "git", tasks: ["commit"] } },
      { text: "<response>DONE</response>", bash: "touch a" },
    );
    await p.ralph("run", "-p", "x");
    const text = [1, 2].map((call) => p.args(call)).find((args) => args.includes("text"));
    expect(text).not.toContain("--settings");
  });

  it("is Codex in a release that knows hooks, whose hooks ask the loop", async () => {
    const p = createProject();
    const said = {
      type: "item.completed",
      item: { id: "1", type: "agent_message", text: "<response>DONE</response>" },
    };
    p.agent([{ onlyRaw: true, raw: [said, { type: "turn.completed" }] }], {
      name: "codex",
      help: "--dangerously-bypass-hook-trust --sandbox",
    });
    expect((await p.ralph("run", "-p", "x", "--agent", "codex")).code).toBe(0);
    const args = p.args(1, "codex");
    expect(args.filter((arg) => arg.startsWith("hooks."))).toEqual([
      expect.stringMatching(
        /^hooks\.PostToolUse=\[\{hooks=\[\{type="command",command=".* hook context --loop http:\/\/127\.0\.0\.1:\d+\/context",timeout=60\}\]\}\]$/,
      ),
      expect.stringMatching(
        /^hooks\.PreToolUse=\[\{hooks=\[\{type="command",command=".* hook pre-tool-use --loop http:\/\/127\.0\.0\.1:\d+\/pre-tool-use",timeout=60\}\]\}\]$/,
      ),
      expect.stringMatching(
        /^hooks\.state=\{("\/<session-flags>\/config\.toml:(post|pre)_tool_use:0:0"=\{trusted_hash="sha256:[0-9a-f]{64}"\},?){2}\}$/,
      ),
    ]);
    expect(args).not.toContain("--dangerously-bypass-hook-trust");
    expect(readFileSync(join(p.runFolder(), "journal.ndjson"), "utf8")).not.toContain("RALPH_HOOK_TOKEN=");
  });
});
