import { expect, test } from "vitest";
import type { AgentCommand, AskOptions, LoopHooks, Permissions } from "../../src/agents/agent.js";
import { AGENT_NAMES, agentFor } from "../../src/agents/index.js";

const SCRATCH = "/home/dev/.ralph/runs/r1/iterations/001";

async function commandOf(line: string, options: Partial<AskOptions> = {}): Promise<AgentCommand> {
  const words = line.split(" ");
  const agent = await agentFor(words[0] as string);
  return agent.command({
    prompt: "Do it.",
    mode: "stream",
    words,
    flags: [],
    model: undefined,
    permissions: "unattended",
    help: "",
    scratch: SCRATCH,
    inRepository: true,
    maxCostUsd: undefined,
    ...options,
  });
}

/** The command as it would be typed, and what the agent is told beside it. */
async function typed(line: string, options: Partial<AskOptions> = {}): Promise<string> {
  const { file, args } = await commandOf(line, options);
  return [file, ...args].join(" ");
}

const flags = (line: string): Partial<AskOptions> => ({ flags: line.split(" ") });
const CLAUDE = "claude -p --output-format stream-json --verbose --include-partial-messages";
const SKIP = "--dangerously-skip-permissions";
const SANDBOX = "--sandbox workspace-write";
const BYPASS = "--dangerously-bypass-approvals-and-sandbox";
const ALLOW = "--dangerously-allow-all";

/** It is asked to commit. */
const COMMITS: Partial<AskOptions> = { gitFolders: ["/home/dev/p/.git"], help: "  --add-dir <DIR>" };

const COMMANDS: [line: string, options: Partial<AskOptions>, expected: string][] = [
  ["claude", {}, `${CLAUDE} ${SKIP}`],
  ["claude", { mode: "text" }, `claude -p --output-format text ${SKIP}`],
  ["claude", { permissions: "edits" }, `${CLAUDE} --permission-mode acceptEdits`],
  ["claude", flags("--no-auto-compact"), `${CLAUDE} ${SKIP} --no-auto-compact`],
  ["claude", { model: "opus", ...flags("--model=sonnet") }, `${CLAUDE} ${SKIP} --model=sonnet`],
  ["claude", { permissions: "edits", ...flags(SKIP) }, `${CLAUDE} ${SKIP}`],
  [
    "claude",
    flags("-p --verbose --include-partial-messages"),
    `claude --output-format stream-json ${SKIP} -p --verbose --include-partial-messages`,
  ],
  ["claude", { maxCostUsd: 1.5 }, `${CLAUDE} ${SKIP} --max-budget-usd 1.5`],
  ["claude", { maxCostUsd: 1.5, ...flags("--max-budget-usd 1") }, `${CLAUDE} ${SKIP} --max-budget-usd 1`],
  ["/opt/bin/claude --add-dir ..", {}, `/opt/bin/${CLAUDE} ${SKIP} --add-dir ..`],

  ["codex", {}, `codex exec --json ${SANDBOX} -`],
  ["codex", { mode: "text" }, `codex exec -o ${SCRATCH}/answer.txt ${SANDBOX} -`],
  ["codex", { permissions: "all" }, `codex exec --json ${BYPASS} -`],
  ["codex", { help: "  --full-auto  Low-friction mode" }, "codex exec --json --full-auto -"],
  ["codex", COMMITS, `codex exec --json ${SANDBOX} --add-dir /home/dev/p/.git -`],
  ["codex", { ...COMMITS, permissions: "all" }, `codex exec --json ${BYPASS} -`],
  ["codex", { ...COMMITS, help: "" }, `codex exec --json ${SANDBOX} -`],
  ...["--sandbox workspace-write", "-s workspace-write", "--sandbox=workspace-write", "--full-auto"].map(
    (given): (typeof COMMANDS)[number] => [
      "codex",
      { ...COMMITS, permissions: "ask", ...flags(given) },
      `codex exec --json --add-dir /home/dev/p/.git ${given} -`,
    ],
  ),
  ["codex", { inRepository: false }, `codex exec --json ${SANDBOX} --skip-git-repo-check -`],
  ["codex", flags("--sandbox=read-only"), "codex exec --json --sandbox=read-only -"],
  ["codex", flags(BYPASS), `codex exec --json ${BYPASS} -`],
  ["codex", { model: "gpt-5.5", ...flags("-m o3") }, `codex exec --json ${SANDBOX} -m o3 -`],
  ["codex", { mode: "text", ...flags("-o mine.txt") }, `codex exec ${SANDBOX} -o mine.txt -`],
  ["codex exec --oss", {}, `codex exec --json ${SANDBOX} --oss -`],

  ["amp", {}, `amp --stream-json ${ALLOW} -x`],
  ["amp", { mode: "text" }, `amp ${ALLOW} -x`],
  ["amp", { help: "  --settings-file" }, `amp --stream-json --settings-file ${SCRATCH}/amp-settings.json -x`],
  ["amp", { help: "  --settings-file", ...flags(ALLOW) }, `amp --stream-json ${ALLOW} -x`],
  [
    "amp",
    { help: `  ${ALLOW}`, ...flags("--settings-file a.json") },
    `amp --stream-json ${ALLOW} --settings-file a.json -x`,
  ],
  ["amp -x", {}, `amp --stream-json ${ALLOW} -x`],

  ["gemini", {}, "gemini --output-format stream-json --yolo --skip-trust"],
  ["gemini", { mode: "text" }, "gemini --output-format text --yolo --skip-trust"],
  [
    "gemini",
    { permissions: "edits" },
    "gemini --output-format stream-json --approval-mode auto_edit --skip-trust",
  ],
  ["gemini", flags("-y"), "gemini --output-format stream-json --skip-trust -y"],
  [
    "gemini",
    flags("--approval-mode plan"),
    "gemini --output-format stream-json --skip-trust --approval-mode plan",
  ],

  ["opencode", {}, "opencode run --format json"],
  ["opencode", { mode: "text" }, "opencode run"],
  ["opencode", { help: "  --auto" }, "opencode run --format json --auto"],
  ["opencode", { help: `  ${SKIP}` }, `opencode run --format json ${SKIP}`],
  ["opencode", { help: "  --auto", ...flags("--yolo") }, "opencode run --format json --yolo"],
  ["opencode", { help: "  --auto", ...flags(SKIP) }, `opencode run --format json ${SKIP}`],
  ["opencode run --agent build", {}, "opencode run --format json --agent build"],

  ["my-agent --fast", flags("--more"), "my-agent --fast --more"],
  ["my-agent -p {prompt} -q", {}, "my-agent -p Do it. -q"],
  ["my-agent --in={prompt_file}", {}, `my-agent --in=${SCRATCH}/prompt-for-agent.txt`],
];

test.each(COMMANDS)("%s with %j", async (line, options, expected) => {
  expect(await typed(line, options)).toBe(expected);
});

const PERMISSIONS: Permissions[] = ["unattended", "all", "edits", "ask"];

test("opencode is told by its environment when its help shows no flag", async () => {
  const env = await Promise.all(
    PERMISSIONS.map(async (permissions) => (await commandOf("opencode", { permissions })).env),
  );
  const allow = { OPENCODE_PERMISSION: '{"*":"allow"}' };
  expect(env).toEqual([allow, allow, undefined, undefined]);
});

test("amp without its flag is told by a settings file", async () => {
  const path = `${SCRATCH}/amp-settings.json`;
  expect(await commandOf("amp", { help: "--settings-file" })).toEqual({
    file: "amp",
    args: ["--stream-json", "--settings-file", path, "-x"],
    files: { [path]: '{"amp.dangerouslyAllowAll":true}' },
    stdin: "Do it.",
  });
});

test("placeholders, dollars and braces in the prompt stay as they are", async () => {
  const prompt = "$& {prompt_file} {prompt} $1";
  expect((await commandOf("my-agent {prompt}", { prompt })).args).toEqual([prompt]);
});

test.each(AGENT_NAMES)("%s gets a prompt of any size on stdin and never as an argument", async (name) => {
  const prompt = `--looks-like-a-flag ${"x".repeat(200 * 1024)}`;
  for (const mode of ["stream", "text"] as const) {
    const { args, stdin } = await commandOf(name, { prompt, mode });
    expect(stdin).toBe(prompt);
    expect(args.filter((arg) => arg.includes("xxx"))).toEqual([]);
  }
});

test("an agent is known by the name of its program, wherever it is", async () => {
  const programs = ["/usr/local/bin/claude", "./codex", "claude-wrapper", "toString", ""];
  const names = await Promise.all(programs.map(async (program) => (await agentFor(program)).name));
  expect(names).toEqual(["claude", "codex", "command", "command", "command"]);
});

const WIRING: LoopHooks = {
  hooks: [
    {
      event: "Stop",
      url: "http://127.0.0.1:4000/stop",
      command: ["ralph", "hook", "stop"],
      timeoutSeconds: 60,
    },
    {
      event: "PostToolUse",
      url: "http://127.0.0.1:4000/context",
      command: ["/my bin/ralph", "hook", "context"],
      timeoutSeconds: 60,
    },
  ],
  tokenVariable: "RALPH_HOOK_TOKEN",
  env: { RALPH_HOOK_TOKEN: "t" },
};

const httpHook = (name: string) => ({
  type: "http",
  url: `http://127.0.0.1:4000/${name}`,
  timeout: 60,
  headers: { Authorization: `Bearer \${${WIRING.tokenVariable}}` },
  allowedEnvVars: ["RALPH_HOOK_TOKEN"],
});
const STOP_GROUP = { hooks: [httpHook("stop")] };
const CONTEXT_GROUP = { matcher: ".*", hooks: [httpHook("context")] };

test("claude gets hooks with --settings, and the token by its environment", async () => {
  const { args, env, files } = await commandOf("claude", { hooks: WIRING, flags: ["--debug"] });
  expect({ flag: args.at(-3), last: args.at(-1), env, files }).toEqual({
    flag: "--settings",
    last: "--debug",
    env: { RALPH_HOOK_TOKEN: "t" },
    files: undefined,
  });
  expect(JSON.parse(args.at(-2) ?? "")).toEqual({
    hooks: { Stop: [STOP_GROUP], PostToolUse: [CONTEXT_GROUP] },
  });
});

test("claude gets the settings of the user and the hooks in one file", async () => {
  const own = { hooks: [{ type: "command", command: "x" }] };
  const content = { model: "opus", hooks: { Stop: [own], SessionStart: [own] } };
  const file = "/home/dev/.ralph/runs/r1/agent-settings.json";
  const hooks = { ...WIRING, settings: { content, file } };
  const { args, files } = await commandOf("claude", { hooks, ...flags("--settings own.json --debug") });
  expect(args.slice(-3)).toEqual(["--settings", file, "--debug"]);
  expect(JSON.parse(files?.[file] ?? "")).toEqual({
    model: "opus",
    hooks: { Stop: [own, STOP_GROUP], SessionStart: [own], PostToolUse: [CONTEXT_GROUP] },
  });
});

test("codex gets hooks that it trusts by their digest", async () => {
  const { args, env } = await commandOf("codex", { hooks: WIRING });
  const settings = args.filter((_, index) => args[index - 1] === "-c");
  // The digests are what Codex 0.166 takes these hooks for.
  expect({ settings, env }).toEqual({
    settings: [
      'hooks.Stop=[{hooks=[{type="command",command="ralph hook stop",timeout=60}]}]',
      `hooks.PostToolUse=[{hooks=[{type="command",command="'/my bin/ralph' hook context",timeout=60}]}]`,
      'hooks.state={"/<session-flags>/config.toml:stop:0:0"={trusted_hash="sha256:9addf85ad9739e6b01979fee9ca704aa988f59f782487bb939747ba1b7e4069a"},"/<session-flags>/config.toml:post_tool_use:0:0"={trusted_hash="sha256:b24149a6a0263185b0885689a63b2feb067cb2540c6b8ebd91491e379cbc9a23"}}',
    ],
    env: { RALPH_HOOK_TOKEN: "t" },
  });
});

test.each(["-c hooks.Stop=[]", "--config=hooks.Stop=[]", "-chooks.Stop=[]", "--config hooks={}"])(
  "codex with %s has the hooks of the user alone",
  async (line) => {
    expect(await typed("codex", { hooks: WIRING, ...flags(line) })).toBe(
      `codex exec --json ${SANDBOX} ${line} -`,
    );
  },
);
