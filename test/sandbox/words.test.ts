import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { claude } from "../../src/agents/claude.js";
import { codex } from "../../src/agents/codex.js";
import { command } from "../../src/agents/command.js";
import { isSignedOut, prepareState, sandboxName } from "../../src/sandbox/docker.js";
import { secretPaths } from "../../src/sandbox/policy.js";
import { hostsFor, networkOf, withRefusedHosts } from "../../src/sandbox/sandbox.js";
import { insideScript } from "../../src/sandbox/srt.js";
import { validate } from "../../src/settings/validate.js";
import { temporaryFolder } from "../kit.js";

describe("hosts", () => {
  it("are those of the provider, of a variable, and those that are listed, each once", () => {
    const env = { ANTHROPIC_BASE_URL: "http://127.0.0.1:4000/v1", OPENAI_BASE_URL: "https://x.example" };
    expect(hostsFor([claude, claude], env, ["a.example", "api.anthropic.com"])).toEqual([
      "api.anthropic.com",
      "platform.claude.com",
      "console.anthropic.com",
      "claude.ai",
      "127.0.0.1:4000",
      "a.example",
    ]);
    expect(hostsFor([codex], env, [])).toContain("x.example");
    expect(hostsFor([command], { ANTHROPIC_BASE_URL: "nonsense" }, [])).toEqual([]);
  });

  it("are those of the model providers in Codex's own settings", () => {
    const home = temporaryFolder();
    mkdirSync(join(home, ".codex"));
    const settings = `model_provider = "mine" # base_url = "https://no.example"
      chatgpt_base_url = 'https://chat.example/api'
      [model_providers.mine]
      name = "Mine"
      base_url = "http://127.0.0.1:8000/v1"
      [mcp_servers.other]
      url = "https://mcp.example"
      base_url = "https://mcp.example"`;
    writeFileSync(join(home, ".codex/config.toml"), settings);
    const own = ["api.openai.com", "chatgpt.com", "auth.openai.com"];
    const found = ["chat.example", "127.0.0.1:8000"];
    for (const env of [{ HOME: home }, { HOME: "/nowhere", CODEX_HOME: join(home, ".codex") }])
      expect(hostsFor([codex], env, [])).toEqual([...own, ...found]);
    expect(hostsFor([codex, claude], { HOME: "/nowhere" }, [])).not.toContain("chat.example");
  });

  it("that were refused are named with what went wrong, and so are ports of this machine", () => {
    const how = "sandbox.network.allow in the settings adds hosts";
    expect(withRefusedHosts("exit code 1", [])).toBe("exit code 1");
    expect(withRefusedHosts("exit code 1", ["a.example", "b.example:8443"])).toBe(
      `exit code 1 (the sandbox refused to let it reach a.example, b.example:8443: ${how})`,
    );
    expect(withRefusedHosts("connect ECONNREFUSED 127.0.0.1:8000", [])).toBe(
      `connect ECONNREFUSED 127.0.0.1:8000 (the sandbox refused to let it reach 127.0.0.1:8000: ${how})`,
    );
    expect(withRefusedHosts("x", [..."abcdefg"])).toContain("a, b, c, d, e and 2 more");
  });

  it.each([
    [["localhost:80"], [7], ["localhost:80", "127.0.0.1:7", "127.0.0.1:80"], [7, 80], false],
    [["localhost"], [7], ["localhost", "127.0.0.1"], [7], true],
    [["example.com:80", "localhost.example.com"], [], ["example.com:80", "localhost.example.com"], [], false],
  ])("%j and the ports %j of this machine go by all of its names", (hosts, needed, domains, ports, whole) => {
    expect(networkOf(hosts, needed)).toEqual({ domains, ports, reachesMachine: whole });
  });
});

describe("the settings", () => {
  const problem = (sandbox: unknown): string => {
    try {
      validate([{ name: "s", content: { sandbox } }]);
      return "";
    } catch (error) {
      return (error as Error).message;
    }
  };

  it("take hosts, with a port or without", () => {
    const allow = ["api.example.com", "*.example.com", "localhost:3000", "127.0.0.1", "[::1]:80", "a:65535"];
    expect(problem({ network: { allow } })).toBe("");
  });

  it.each<[unknown, string]>([
    ...["https://example.com", "a b", "", "example.com:0"].map(
      (host) =>
        [{ network: { allow: [host] } }, "expected a host such as api.example.com"] as [unknown, string],
    ),
    [{ network: { alow: [] } }, "alow"],
    [{ filesystem: { denyRead: [""] } }, "denyRead"],
  ])("refuse %j", (sandbox, words) => {
    expect(problem(sandbox)).toContain(words);
  });
});

describe("the start inside of srt", () => {
  const start = {
    command: { file: "my agent", args: ["it's", "$(x)"] },
    temp: "/t",
    network: { ports: [], reachesMachine: false },
    restoresSignals: true,
    platform: "linux" as const,
    path: undefined,
  };

  it("quotes the command", () => {
    expect(insideScript(start)).toContain("'my agent' 'it'\\''s' '$(x)' 2>&3 3>&-)\n");
    expect(insideScript({ ...start, path: "/a b" })).toContain("env 'PATH=/a b' 'my agent'");
  });
});

it("secrets are keys, and logins of agents that are not at work", async () => {
  const [home, other] = [temporaryFolder(), temporaryFolder()];
  for (const folder of [".ssh", ".claude"]) mkdirSync(join(other, folder));
  writeFileSync(join(other, ".claude/.credentials.json"), "");
  const scope = { home, env: { CODEX_HOME: "/c" }, agents: [claude] };
  const paths = await secretPaths(scope, [other]);
  const hidden = [".ssh", ".aws", ".config/rclone.conf", ".terraformrc"].map((name) => join(home, name));
  expect(paths).toEqual(expect.arrayContaining([...hidden, "/etc/shadow", "/c/auth.json"]));
  expect(paths).not.toContain(join(home, ".claude/.credentials.json"));
  expect(paths.filter((path) => path.startsWith(other))).toEqual(
    [".ssh", ".claude/.credentials.json"].map((name) => join(other, name)),
  );
});

describe("docker", () => {
  it.each([
    ["docker", "/Users/a/app-1.0", /^ralph-_Users_a_app-1\.0$/],
    ["docker", "/Users/a/my app", /^ralph-_Users_a_my_app-[0-9a-f]{8}$/],
    ["sbx", "/Users/a/app", /^ralph-Users-a-app$/],
    ["sbx", "/Users/a/my_app", /^ralph-Users-a-my-app-[0-9a-f]{8}$/],
  ] as const)("%s calls the sandbox of %s %s", (program, folder, name) => {
    expect(sandboxName(program, folder, ["h"])).toMatch(name);
  });

  it.each(["docker", "sbx"] as const)("%s gives no two folders one sandbox", (program) => {
    const folders = ["/a/b", "/a_b", "/a b", "/a-b", "/a--b", "/a__b", "/a/_b", "/a.b"];
    expect(new Set(folders.map((folder) => sandboxName(program, folder, ["h"]))).size).toBe(folders.length);
  });

  it.each([
    ["ERROR: not signed in to Docker", true],
    ["no valid user session found, please sign in to Docker to proceed", true],
    ["no such sandbox", false],
  ])("%j means that nobody is logged in: %s", (said, means) => {
    expect(isSignedOut(said)).toBe(means);
  });

  it.each([
    ["", "{}\n"],
    ['{"a":1}', '{"a":1}'],
  ])("writes JSON where the state of the login is %j", (before, after) => {
    const home = temporaryFolder();
    const file = join(home, ".dclaude_state/.claude.json");
    mkdirSync(join(home, ".dclaude_state"));
    writeFileSync(file, before);
    expect(prepareState(home)).toBe(join(home, ".dclaude_state"));
    expect(readFileSync(file, "utf8")).toBe(after);
  });
});
