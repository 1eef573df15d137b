import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { claudeProject, createProject } from "../kit.js";

const DONE = { text: "<response>DONE</response>" };
const ASKS = { text: "<promise>BLOCKED: which port?</promise>" };
const TWO_WORDS = /^[a-z]+-[a-z]+$/;

function specs(p: ReturnType<typeof createProject>): { id: string; name: string }[] {
  const runs = join(p.home, ".ralph/runs");
  return readdirSync(runs).map((id) => JSON.parse(readFileSync(join(runs, id, "spec.json"), "utf8")));
}

describe("the name of a run", () => {
  it("is two words, in its record, its first line, its summary and the lists", async () => {
    const p = claudeProject(DONE);
    const { stdout } = await p.ralph("run", "-p", "a");
    const [{ id, name } = { id: "", name: "" }] = specs(p);
    expect(name).toMatch(TWO_WORDS);
    expect(stdout).toContain(`Run ${name} (${id}) · `);
    expect(stdout).toContain(`\n  name       ${name}\n`);
    expect((await p.ralph("runs")).stdout).toContain(name);
    expect(JSON.parse((await p.ralph("runs", "--json")).stdout)).toMatchObject([{ id, name }]);
    expect(JSON.parse((await p.ralph("report", "--json")).stdout)).toMatchObject({ run: id, name });
  });

  it("is what --name says, and is accepted in place of the id", async () => {
    const p = claudeProject(ASKS, DONE);
    const { stdout } = await p.ralph("run", "-p", "a", "--name", "port");
    expect(stdout).toContain('ralph answer port "TEXT"');
    expect(stdout).toContain("ralph resume port\n");
    expect((await p.ralph("report", "port")).stdout).toContain("port");
    expect((await p.ralph("status", "port")).stdout).toContain("Question: which port?");
    expect((await p.ralph("answer", "port", "8080")).code).toBe(0);
    expect((await p.ralph("resume", "port")).code).toBe(0);
  });

  it("goes to the latest run that wants it", async () => {
    const p = claudeProject(DONE);
    await p.ralph("run", "-p", "first", "--name", "night");
    await p.ralph("run", "-p", "second", "--name", "night");
    expect((await p.ralph("report", "night")).stdout).toContain("second");
    const [first] = specs(p);
    expect((await p.ralph("report", first?.id ?? "")).stdout).toContain("first");
  });

  it("is not taken from a run that is running", async () => {
    const p = claudeProject({ text: "x" });
    const run = p.start(["loop", "a", "--check", "sleep 60", "--name", "night"]);
    await run.until((output) => output.includes("sleep 60"));
    const other = createProject();
    const { code, stderr } = await p.ralphWith({ cwd: other.dir }, "run", "-p", "b", "--name", "night");
    run.child.kill("SIGKILL");
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `ralph: error: --name night is taken: run ${specs(p)[0]?.id} is running (choose another)\n`,
    });
  });

  it("names the worktree and its branch", async () => {
    const p = claudeProject(DONE);
    await p.ralph("run", "-p", "a", "--name", "port", "--worktree");
    expect(p.sh("git branch --list ralph/port")).toContain("ralph/port");
  });
});
