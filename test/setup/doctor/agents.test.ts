import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { AGENT_NAMES } from "../../../src/agents/index.js";
import { examineAgents } from "../../../src/setup/doctor/agents.js";
import type { DoctorContext, DoctorFinding } from "../../../src/setup/doctor/context.js";
import { createProject, eventually, isAlive, type Project } from "../../kit.js";
import { machine, prints, SETTINGS } from "./machine.js";

const [, ...OTHERS] = AGENT_NAMES;
const ABSENT = OTHERS.map((name) => ({
  name,
  status: "ok",
  message: "not installed",
  installed: false,
}));
const SIGN_IN = "log in: claude auth login (or set ANTHROPIC_API_KEY)";

async function find(name: string, context: DoctorContext): Promise<DoctorFinding | undefined> {
  return (await examineAgents(context)).find((finding) => finding.name === name);
}

function configured(agent: object, more: object = {}) {
  return { settings: { settings: { ...SETTINGS, agent, ...more }, files: [] } };
}

function login(path: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "{}");
  return path;
}

describe("agents", () => {
  it("none at all is a problem that says how to get one", async () => {
    expect(await examineAgents(machine(createProject()))).toEqual([
      { name: "claude", status: "ok", message: "not installed", installed: false },
      ...ABSENT,
      {
        name: "default",
        status: "problem",
        message: `no agent is configured, and none of ${AGENT_NAMES.join(", ")} is on PATH`,
        fix: "install one, for example: npm install -g @anthropic-ai/claude-code; or use any command with --agent CMD",
      },
    ]);
  });

  it("one is enough: the others are no warnings", async () => {
    const p = createProject();
    const path = prints(p, "claude", "2.1.325 (Claude Code)");
    expect(await examineAgents(machine(p, { env: { ANTHROPIC_API_KEY: "sk-1" } }))).toEqual([
      {
        name: "claude",
        status: "ok",
        message: `2.1.325 at ${path}, ANTHROPIC_API_KEY is set`,
        installed: true,
        path,
        version: "2.1.325",
        auth: { variables: ["ANTHROPIC_API_KEY"] },
      },
      ...ABSENT,
      { name: "default", status: "ok", message: "claude, the only known agent on PATH" },
    ]);
  });

  it.runIf(process.getuid?.() === 0)("Claude Code as root is a warning with the ways out", async () => {
    const p = createProject();
    prints(p, "claude", "1.0");
    const asRoot = { uid: 0, env: { IS_SANDBOX: "" } };
    const told = {
      status: "warning",
      message: "Claude Code does not skip permissions when it runs as root",
      fix: expect.stringMatching(/another user.*IS_SANDBOX=1.*edits/),
    };
    expect((await examineAgents(machine(p, asRoot))).slice(5)).toEqual([{ name: "default", ...told }]);
    prints(p, "codex", "1.0");
    expect((await examineAgents(machine(p, asRoot))).slice(6)).toEqual([{ name: "as root", ...told }]);
    const codex = machine(p, { ...asRoot, ...configured({ command: "codex" }) });
    expect(await find("as root", codex)).toBeUndefined();
  });
});

describe("how an agent signs in", () => {
  const TWO = { CLAUDE_CODE_OAUTH_TOKEN: "a", ANTHROPIC_API_KEY: "b" };

  it.each([
    ["claude", ".claude/.credentials.json", {}],
    ["codex", ".codex/auth.json", {}],
    ["codex", "other/auth.json", { CODEX_HOME: "other" }],
    ["amp", ".local/share/amp/secrets.json", {}],
    ["gemini", ".gemini/oauth_creds.json", {}],
    ["opencode", ".local/share/opencode/auth.json", {}],
  ])("%s: a login in %s", async (name, file, folders) => {
    const p = createProject();
    prints(p, name, "1.0");
    const env = Object.fromEntries(Object.entries(folders).map(([key, value]) => [key, join(p.home, value)]));
    expect(await find(name, machine(p, { env }))).toMatchObject({ status: "warning" });
    const loginFile = login(join(p.home, file));
    expect(await find(name, machine(p, { env }))).toMatchObject({
      status: "ok",
      message: expect.stringContaining(`, a login in ~/${file}`),
      auth: { variables: [], loginFile },
    });
  });

  it.each([
    ["nothing", "linux", {}, "warning", "no sign of a login", SIGN_IN],
    ["two variables", "linux", TWO, "ok", "ANTHROPIC_API_KEY, CLAUDE_CODE_OAUTH_TOKEN are set", undefined],
    ["macOS", "darwin", {}, "ok", "ralph cannot see a login in the keychain", undefined],
  ] as const)("Claude Code with %s on %s", async (_, platform, env, status, said, fix) => {
    const p = createProject();
    const path = prints(p, "claude", "1.0");
    const finding = await find("claude", machine(p, { platform, env }));
    expect(finding).toMatchObject({ status, message: `1.0 at ${path}, ${said}` });
    expect(finding?.fix).toBe(fix);
  });
});

describe("an agent whose --version", () => {
  async function versionOf(script: string, p: Project = createProject(), context = machine(p)) {
    p.program("claude", script);
    return await find("claude", context);
  }
  const fix = "reinstall it: npm install -g @anthropic-ai/claude-code";

  it("crashes is a problem if it is the one in use", async () => {
    expect(await versionOf("#!/bin/sh\necho 'no such module' >&2\nexit 3\n")).toMatchObject({
      status: "problem",
      message: expect.stringContaining("/claude --version: no such module (exit 3), "),
      fix,
    });
    expect(await versionOf("#!/bin/sh\nkill -SEGV $$\n")).toMatchObject({
      message: expect.stringContaining("--version: ended by SIGSEGV, "),
    });
    expect(await versionOf("#!/no/such/interpreter\n")).toMatchObject({
      status: "problem",
      message: expect.stringContaining("--version: it cannot be started: "),
    });
  });

  it("prints garbage is a warning", async () => {
    expect(
      await versionOf(`#!/bin/sh\nPATH=/usr/bin:/bin\nhead -c 3000 /dev/urandom | tr -d '0-9'\n`),
    ).toMatchObject({
      status: "warning",
      message: expect.stringContaining("--version: it prints no version"),
      fix: "run it with --version by hand",
    });
  });

  it("hangs and does not want to end is ended with its children", async () => {
    const p = createProject();
    const hangs = `#!/bin/sh\ntrap '' TERM\n/bin/sleep 77 &\necho $! > ${p.root}/child\nwait; wait; /bin/sleep 77\n`;
    expect(await versionOf(hangs, p)).toMatchObject({
      status: "warning",
      message: expect.stringContaining("--version: it did not answer within 5 s"),
    });
    const child = Number(p.read("../child"));
    await eventually(() => !isAlive(child));
  });
});
