import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { AGENT_NAMES } from "../../src/agents/index.js";
import { createProject, type Project } from "../kit.js";

/** What is offered: one line for each, and nothing that is not. */
async function offered(p: Project, ...words: string[]): Promise<[string, string][]> {
  const { code, stdout, stderr } = await p.ralph("complete", "--", ...words);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const lines = stdout.split("\n").slice(0, -1);
  return lines.map((line) => line.split("\t") as [string, string]);
}

async function values(p: Project, ...words: string[]): Promise<string[]> {
  return (await offered(p, ...words)).map(([value]) => value);
}

/** A run as its records show it. */
function record(p: Project, id: string, events: object[]): void {
  const folder = join(p.home, ".ralph/runs", id);
  mkdirSync(folder, { recursive: true });
  const spec = { recipe: { kind: "prompt" }, agent: { name: "a", words: [] }, workspace: p.dir, limits: {} };
  writeFileSync(join(folder, "spec.json"), JSON.stringify({ v: 1, createdAt: "t", ...spec }));
  const started = { type: "run.started", recipe: "prompt", agent: "a", workspace: p.dir, limits: {} };
  const lines = [started, ...events].map((event) => JSON.stringify({ v: 1, ts: "t", run: id, ...event }));
  writeFileSync(join(folder, "journal.ndjson"), `${lines.join("\n")}\n`);
}

/** What stands on the command line, and what its last word can become. */
const OFFERED: [line: string, values: string[]][] = [
  ["re", ["resume", "report"]],
  ["-", ["--version", "--help"]],
  ["--version ru", ["run", "runs"]],
  ["config ", ["get", "set"]],
  ["nope ", []],
  ["complete ", []],
  ["--json -h -- --version", []],
  // Flags.
  ["run --pro", ["--prompt", "--prompt-file"]],
  ["run --json -h --js", []],
  ["run --no-color --col", []],
  ["run --name=x --nam", []],
  ["run --check x --ch", ["--check", "--check-timeout"]],
  ["run -p --quiet --qui", ["--quiet"]],
  ["run -p resume --qui", ["--quiet"]],
  ["run --worktree --qui", ["--quiet"]],
  ["run --vers", []],
  ["run -- -", []],
  ["completion --h", ["--help"]],
  // Values.
  ["run -C ", [":file"]],
  ["run --config=x", [":file"]],
  ["run -fx", [":file"]],
  ["spawn --cwd ", [":dir"]],
  ["run --agent=cl", ["--agent=claude"]],
  ["run --quiet=x", []],
  ["run -n ", []],
  ["run --check ", []],
  ["guard ", []],
  ["resume -- ", []],
  ["completion ", ["bash", "zsh", "fish"]],
  ["help comp", ["completion"]],
];

describe("ralph complete", () => {
  it("knows every command that the help shows, and no other", async () => {
    const p = createProject();
    const help = (await p.ralph("--help")).stdout;
    const shown = [...(help.split("Examples:")[0] ?? "").matchAll(/^ {2}([a-z]\S*)/gm)].map(
      ([, name]) => name,
    );
    expect(await values(p, "")).toEqual(shown);
    expect(shown).toEqual(expect.arrayContaining(["run", "completion", "help"]));
    expect(shown).not.toContain("complete");
  });

  it("knows every flag that the help of each command shows", async () => {
    const p = createProject();
    for (const command of await values(p, "")) {
      const help = (await p.ralph(command, "--help")).stdout;
      const shown = [...help.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, flag]) => flag);
      expect([command, (await values(p, command, "--")).sort()]).toEqual([command, shown.sort()]);
    }
  });

  it("knows what can stand where", async () => {
    const p = createProject();
    for (const [line, expected] of OFFERED)
      expect.soft(await values(p, ...line.split(" ")), line).toEqual(expected);
  });

  it("offers agents on PATH, then the others, then the profiles of the folder", async () => {
    const p = createProject();
    p.env["PATH"] = `${p.bin}:${join(process.execPath, "..")}`;
    p.program("gemini", "#!/bin/sh\n");
    p.settings({ agents: { "my agent": { command: "claude" }, amp: { command: "amp --fast" } } });
    const local = {
      agents: { "a:$b": { command: "x", env: { TOKEN: "hush" } }, "two\nlines": { command: "x" } },
    };
    p.write(".ralph/settings.local.json", JSON.stringify(local));
    expect(await offered(p, "run", "--agent", "")).toEqual([
      ["gemini", "on PATH"],
      ...AGENT_NAMES.filter((name) => !["gemini", "amp"].includes(name)).map((name) => [name, "not on PATH"]),
      ["my agent", "profile in the settings"],
      ["amp", "profile in the settings"],
      ["a:$b", "profile in the settings"],
    ]);
  });

  it.each([
    ["malformed", "{"],
    ["invalid", '{"agents": 5}'],
  ])("settings that are %s offer no profiles and no word about it", async (_, text) => {
    const p = createProject();
    p.write(".ralph/settings.json", text);
    expect(await values(p, "run", "--agent", "cl")).toEqual(["claude"]);
  });

  it("offers real runs, as ralph runs tells of them", async () => {
    const p = createProject();
    p.program("done", "#!/bin/sh\ncat > /dev/null\necho '<response>DONE</response>'\n");
    p.program("slow", "#!/bin/sh\ncat > /dev/null\nsleep 60\n");
    await p.ralph("run", "-p", "x", "--agent", "done", "--name", "one");
    const run = p.start(["run", "-p", "x", "--agent", "slow", "--json", "--name", "two"]);
    await run.until((output) => output.includes('"agent.started"'));
    const [, second = ""] = readdirSync(join(p.home, ".ralph/runs")).sort();
    expect(await offered(p, "resume", "")).toEqual([
      ["last", "the latest run"],
      ["two", "prompt in project: running"],
      ["one", "prompt in project: finished (completed)"],
    ]);
    run.child.kill("SIGKILL");
    await run.result;
    expect(await offered(p, "pause", second)).toEqual([[second, "prompt in project: crashed"]]);
  });

  it("offers the newest fifty runs, the newest first", async () => {
    const p = createProject();
    const ids = Array.from({ length: 60 }, (_, n) => `20260126-185500-${String(n).padStart(6, "0")}`);
    for (const id of ids) record(p, id, [{ type: "run.finished", reason: "stuck" }]);
    expect(await values(p, "resume", "")).toEqual(["last", ...ids.slice(-50).reverse()]);
  });

  it("offers nothing, and says nothing, where the records cannot be read", async () => {
    const p = createProject();
    p.write("file", "");
    p.env["RALPH_HOME"] = join(p.dir, "file");
    expect(await values(p, "pause", "2")).toEqual([]);
  });

  it("offers commands in a folder that is gone", () => {
    const p = createProject();
    const bin = join(import.meta.dirname, "../../bin/ralph.js");
    const script = `mkdir gone && cd gone && rmdir ../gone && '${process.execPath}' '${bin}' complete --`;
    expect(p.sh(`(${script} completi) 2>&1`)).toBe(
      "completion\tprint a script that completes commands in your shell\n",
    );
    expect(p.sh(`(${script} run --agent '') 2>&1; echo $?`)).toBe("0\n");
  });
});
