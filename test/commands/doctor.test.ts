import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { AGENT_NAMES } from "../../src/agents/index.js";
import type { DoctorFinding } from "../../src/setup/doctor/context.js";
import { createProject, eventually, isAlive, type Project } from "../kit.js";
import { prints, realGit } from "../setup/doctor/machine.js";

const FREE = / free$/;

/** A machine with everything that ralph likes, and one agent. */
function complete(options: { git?: boolean } = {}): Project {
  const p = createProject(options);
  p.env["PATH"] = p.bin;
  p.env["ANTHROPIC_API_KEY"] = "sk-ant-never-to-be-shown";
  realGit(p);
  prints(p, "claude", "2.1.325 (Claude Code)");
  prints(p, "tmux", "tmux 3.3a");
  for (const name of ["bwrap", "socat", "rg", "bash"]) prints(p, name, "1.0");
  return p;
}

describe("ralph doctor", () => {
  it("on a machine that has it all is one document of ok, exit 0", async () => {
    const p = complete();
    p.settings({ agent: { command: "claude" } });
    const { code, stdout, stderr } = await p.ralph("doctor", "--json");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const at = (name: string): string => join(p.bin, name);
    const ok = (group: string, name: string, message: unknown, more: object = {}) => ({
      ...{ group, name, status: "ok", message },
      ...more,
    });
    const tool = (path: string, version: unknown) => ({ installed: true, path, version });
    const disk = (name: string, path: string) =>
      ok("system", name, expect.stringMatching(FREE), { path, freeBytes: expect.any(Number) });
    const { execPath, versions } = process;
    const settings = ".ralph/settings.json";
    const noDocker = "not needed, and not installed: neither sbx nor docker is installed";
    expect(JSON.parse(stdout)).toEqual({
      v: 1,
      ok: true,
      findings: [
        ok("settings", "files", `valid: ${settings}`, { files: [settings] }),
        ok("git", "git", expect.stringContaining(at("git")), tool(at("git"), expect.any(String))),
        ok("git", "repository", p.dir, { path: p.dir }),
        ok("git", "commit", expect.stringMatching(/^[0-9a-f]+$/)),
        ok("git", "identity", "a <a@example.invalid>"),
        ok("system", "node", `${versions.node} at ${execPath}`, { version: versions.node, path: execPath }),
        ok("system", "tmux", `3.3a at ${at("tmux")}`, tool(at("tmux"), "3.3a")),
        disk("records", join(p.home, ".ralph")),
        disk("project", p.dir),
        ok("sandboxes", "srt", "works (bubblewrap)", { installed: true }),
        ok("sandboxes", "docker", noDocker, { installed: false }),
        ok("agents", "claude", `2.1.325 at ${at("claude")}, ANTHROPIC_API_KEY is set`, {
          ...tool(at("claude"), "2.1.325"),
          auth: { variables: ["ANTHROPIC_API_KEY"] },
        }),
        ...AGENT_NAMES.filter((name) => name !== "claude").map((name) =>
          ok("agents", name, "not installed", { installed: false }),
        ),
        ok("agents", "default", "claude, by the settings"),
      ],
    });
  });

  it("warnings alone are exit 0", async () => {
    const p = complete({ git: false });
    const { code, stdout, stderr } = await p.ralph("doctor", "--no-emoji");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("[WARN] repository ");
    expect(stdout).toMatch(/\n\[WARN\] No problems, \d warnings?\.\n$/);
  });

  it("no agent is exit 1, and every line fits into 80 columns", async () => {
    const p = createProject();
    p.env["PATH"] = "/nowhere";
    const { code, stdout, stderr } = await p.ralph("doctor", "--no-emoji");
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    expect(stdout).toContain("[ERR]  default      no agent is configured, and none of claude, codex, amp,");
    expect(stdout).toMatch(/\n\[ERR\] 1 problem, \d warnings\.\n$/);
    expect(stdout.split("\n").filter((line) => line.length > 80 && !line.includes(p.root))).toEqual([]);
    const json = await p.ralph("doctor", "--json");
    const { ok, findings } = JSON.parse(json.stdout) as { ok: boolean; findings: DoctorFinding[] };
    const helpless = findings.filter(({ status, fix }) => (status === "ok") !== (fix === undefined));
    expect({ code: json.code, ok, helpless }).toEqual({ code: 1, ok: false, helpless: [] });
  });

  it.each([
    [
      "invalid",
      "{",
      "malformed settings file .ralph/settings.json: unexpected end of file at line 1, column 2",
    ],
    ["unknown", '{"agnt": 1}', '.ralph/settings.json: unknown key "agnt" (did you mean "agent"?)'],
  ])("%s settings are a problem with the message of ralph run", async (_, text, message) => {
    const p = complete();
    p.write(".ralph/settings.json", text);
    const run = await p.ralph("run", "-p", "x");
    const { code, stdout } = await p.ralph("doctor", "--json");
    const problems = JSON.parse(stdout).findings.filter(
      ({ status }: { status: string }) => status === "problem",
    );
    expect({ code, problems }).toEqual({
      code: 1,
      problems: [
        {
          group: "settings",
          name: "files",
          status: "problem",
          message,
          fix: "correct the file and run ralph doctor again",
        },
      ],
    });
    expect(run.stderr).toBe(`ralph: error: ${message}\n`);
  });

  it.each([["--json"], ["--no-emoji"]])("never shows the value of a key (%s)", async (flag) => {
    const p = complete();
    p.program("claude", '#!/bin/sh\necho "1.2.3+$ANTHROPIC_API_KEY"\n');
    p.program("codex", '#!/bin/sh\necho "bad key $ANTHROPIC_API_KEY" >&2\nexit 1\n');
    const { all } = await p.ralph("doctor", flag);
    expect(all).toContain("ANTHROPIC_API_KEY");
    expect(all).toContain("bad key");
    expect(all).not.toContain("sk-ant-never-to-be-shown");
  });

  it("changes nothing in the folder and in the home", async () => {
    const p = complete();
    const before = readdirSync(p.root, { recursive: true });
    await p.ralph("doctor");
    expect(readdirSync(p.root, { recursive: true })).toEqual(before);
  });

  it("colours are wanted by FORCE_COLOR and refused by NO_COLOR and --no-color", async () => {
    const p = complete();
    const coloured = async (args: string[], env: NodeJS.ProcessEnv): Promise<boolean> =>
      (await p.ralphWith({ env }, "doctor", ...args)).stdout.includes("\u001b[");
    expect(await coloured([], { NO_COLOR: "", FORCE_COLOR: "1" })).toBe(true);
    expect(await coloured(["--no-color"], { NO_COLOR: "", FORCE_COLOR: "1" })).toBe(false);
    expect(await coloured([], { NO_COLOR: "1", FORCE_COLOR: "1" })).toBe(false);
    expect(await coloured([], { NO_COLOR: "" })).toBe(false);
  });

  it("is ended by Ctrl+C together with what it asked", async () => {
    const p = complete();
    p.program("amp", `#!/bin/sh\necho $$ > ${p.root}/pid\nexec /bin/sleep 60\n`);
    const started = p.start(["doctor"]);
    await eventually(() => p.exists("../pid") && p.read("../pid").endsWith("\n"));
    started.child.kill("SIGINT");
    const { code, stdout } = await started.result;
    expect({ code, saysAgents: stdout.includes("Agents") }).toEqual({ code: 130, saysAgents: false });
    expect(isAlive(Number(p.read("../pid")))).toBe(false);
  });
});
