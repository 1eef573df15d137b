import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startHookServer } from "../../src/hooks/server.js";
import { createProject, type Project } from "../kit.js";

const BIN = join(import.meta.dirname, "../../bin/ralph.js");

function hook(p: Project, args: string[], input: string | Buffer = "", env: NodeJS.ProcessEnv = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, "hook", ...args], {
    cwd: p.dir,
    env: { ...p.env, ...env },
    input,
    encoding: "utf8",
  });
  return { code: status, stdout, stderr };
}

/** The same while this process answers. */
function hookOfLoop(p: Project, args: string[], env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, [BIN, "hook", ...args], { cwd: p.dir, env: { ...p.env, ...env } });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => (output += text));
  child.stdin.end('{"session_id":"s"}');
  return new Promise<{ code: number | null; output: string }>((resolve) =>
    child.once("close", (code) => resolve({ code, output })),
  );
}

describe("ralph hook", () => {
  it("tells an agent as JSON that its context fills up, once", () => {
    const p = createProject({ git: false });
    const transcript = p.write("t.jsonl", "x".repeat(3400));
    const input = JSON.stringify({
      session_id: "s",
      transcript_path: transcript,
      hook_event_name: "PostToolUse",
    });
    const env = { CLAUDE_CONTEXT_WINDOW: "1000" };
    const { stdout, ...rest } = hook(p, ["context"], input, env);
    expect(rest).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toEqual({
      hookSpecificOutput: {
        hookEventName: "PostToolUse",
        additionalContext: expect.stringMatching(
          /^\[WARNING\] About 80% of the context window is used\. Finish/,
        ),
      },
    });
    expect(hook(p, ["context"], input, env)).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(hook(p, ["session-start"], input, env)).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(hook(p, ["context"], input, env).stdout).toBe(stdout);
    expect(existsSync(join(p.home, ".ralph/hooks/context-s/80"))).toBe(true);
  });

  it("blocks a stop as JSON with exit 0", () => {
    const p = createProject();
    p.write(".ralph-active", "{}");
    const { code, stdout } = hook(p, ["stop"], JSON.stringify({ session_id: "s", cwd: p.dir }));
    expect({ code, answer: JSON.parse(stdout) }).toEqual({
      code: 0,
      answer: { decision: "block", reason: expect.stringContaining("ralph/tasks.json does not exist") },
    });
  });

  const JSON_WANTED = "expected a JSON object on stdin, as agents send it";
  it.each([
    ["stop", "", JSON_WANTED],
    ["session-start", "not json", JSON_WANTED],
    ["context", " ".repeat(8 * 1024 * 1024 + 1), "more than 8 MB on stdin"],
    ["context", '{"session_id":"\\ud800","transcript_path":"t.jsonl"}', "URI malformed"],
    [
      "context",
      `{"session_id":"${"x".repeat(300)}","transcript_path":"t.jsonl"}`,
      "the session id is too long",
    ],
    ["context", '{"session_id":"s","transcript_path":"t.jsonl/x"}', "ENOTDIR"],
  ])("%s lets the agent go on with a note when it is sent what makes no sense", (name, input, note) => {
    const p = createProject({ git: false });
    p.write("t.jsonl", "x".repeat(4000));
    const { stderr, ...rest } = hook(p, [name], input, { CLAUDE_CONTEXT_WINDOW: "1000" });
    expect(rest).toEqual({ code: 0, stdout: "" });
    expect(stderr).toMatch(new RegExp(`^ralph: hook ${name}: .*\n$`));
    expect(stderr).toContain(note);
  });

  it("asks the loop that started the agent, and goes on without it", async () => {
    const p = createProject({ git: false });
    const server = await startHookServer("secret", {
      stop: async () => ({ decision: "block", reason: "no" }),
    });
    const args = ["stop", "--loop", `${server?.url}stop`];
    expect(await hookOfLoop(p, args, { RALPH_HOOK_TOKEN: "secret" })).toEqual({
      code: 0,
      output: '{"decision":"block","reason":"no"}\n',
    });
    expect(await hookOfLoop(p, args, { RALPH_HOOK_TOKEN: "wrong" })).toEqual({
      code: 0,
      output: "ralph: hook stop: it answered 401\n",
    });
    server?.close();
    const gone = await hookOfLoop(p, args, { RALPH_HOOK_TOKEN: "secret" });
    expect(gone).toEqual({
      code: 0,
      output: expect.stringMatching(/^ralph: hook stop: .*ECONNREFUSED.*\n$/),
    });
  });

  it.each([
    [["stpo"], "unknown hook stpo: expected stop, context, pre-tool-use, session-start (did you mean stop?)"],
    [[], "no hook was given: expected stop, context, pre-tool-use, session-start (ralph hook --help)"],
    [["stop", "more"], "too many arguments for 'hook'"],
    [
      ["stop", "--loop", "http://example.invalid/"],
      "--loop http://example.invalid/: expected an address such as",
    ],
    [["stop", "--lop"], "unknown option '--lop' (Did you mean --loop?)"],
  ])("%j is one line that says what is wrong, exit 1", (args, message) => {
    const { code, stdout, stderr } = hook(createProject({ git: false }), args, "{}");
    expect({ code, stdout, lines: stderr.trimEnd().split("\n").length }).toEqual({
      code: 1,
      stdout: "",
      lines: 1,
    });
    expect(stderr).toContain(`ralph: error: ${message}`);
  });
});
