import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createProject, eventually } from "../kit.js";

const BIN = join(import.meta.dirname, "../../bin/ralph.js");

const demoFolders = (root: string) => readdirSync(root).filter((name) => name.startsWith("ralph-demo-"));

describe("ralph demo", () => {
  it("is a real loop: a failed check, a false claim that is caught, and a fix", async () => {
    const p = createProject();
    const { code, events, stderr, finished } = await p.ralph("demo", "--json");
    expect(code).toBe(0);
    const verdicts = events.flatMap((event) =>
      event.type === "iteration.finished" ? [[event.passed, event.reason]] : [],
    );
    expect(verdicts).toEqual([
      [false, "checks failed"],
      [false, "claimed to be done, but checks failed"],
      [true, "completed"],
    ]);
    expect(finished).toMatchObject({
      success: true,
      iterations: 3,
      files: [{ path: "cart.js", change: "modified", added: 2, removed: 2 }],
    });
    expect(stderr).toContain("no model, no network, no cost");
    expect(demoFolders(p.root)).toEqual([]);
    expect(existsSync(join(p.home, ".ralph"))).toBe(false);
    expect(p.sh("git status --porcelain")).toBe("");
  });

  it("keeps the project, its records and the report when asked to, and needs nothing but git", async () => {
    const p = createProject({ git: false });
    const path = mkdtempSync(join(p.root, "path-"));
    for (const program of ["git", "sh", "node"]) p.sh(`ln -s "$(command -v ${program})" ${path}/${program}`);
    p.sh("git config --global commit.gpgsign true && git config --global core.hooksPath /nowhere");
    const env = { PATH: path, ANTHROPIC_API_KEY: "sk-somebody-elses-key" };
    const { code, stdout } = await p.ralphWith({ env }, "demo", "--keep");
    expect({ code, stdout }).toMatchObject({ code: 0 });
    expect(stdout).not.toContain("billed to");
    const report = /^ {2}report +(\S+)$/m.exec(stdout)?.[1] ?? "";
    const project = /^ {2}project +(\S+)$/m.exec(stdout)?.[1] ?? "";
    expect(readFileSync(report, "utf8")).toMatch(/^<!doctype html>/i);
    expect(p.sh(`cd ${project} && node test.js && git log --format=%s && git status --porcelain`)).toBe(
      "ok      quantities count\nok      a discount is in percent\nA cart\n M cart.js\n",
    );
    const shown = await p.ralphWith({ env: { RALPH_HOME: join(project, "../records") } }, "runs", "--json");
    expect(JSON.parse(shown.stdout)).toMatchObject([
      { status: "finished", reason: "completed", iterations: 3 },
    ]);
  });

  it("says what is missing without git", async () => {
    const p = createProject({ git: false });
    const empty = mkdtempSync(join(p.root, "path-"));
    const { code, stderr } = await p.ralphWith({ env: { PATH: empty } }, "demo");
    expect(code).toBe(2);
    expect(stderr).toBe("ralph: error: ralph demo needs git on PATH\n");
    expect(demoFolders(p.root)).toEqual([]);
  });

  it("leaves nothing behind when nobody listens or a signal comes early", async () => {
    const p = createProject();
    p.program("ralph", `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`);
    expect(p.sh("ralph demo 2>&1 >/dev/full | cat; ralph demo -q | true; echo over")).toBe("over\n");
    expect(demoFolders(p.root)).toEqual([]);
    const run = p.start(["demo"]);
    await eventually(() => demoFolders(p.root).length === 1);
    run.child.kill("SIGTERM");
    expect((await run.result).code).toBe(130);
    expect(demoFolders(p.root)).toEqual([]);
  });
});
