import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type FunctionAgent, type LoopSpec, RalphLoop } from "../../src/index.js";
import { createProject, type Project } from "../kit.js";

const works: FunctionAgent = async (_prompt, { workspace }) => {
  const { writeFile } = await import("node:fs/promises");
  await writeFile(join(workspace, "work"), "done\n");
  return { finalOutput: "COMPLETE" };
};
const idles: FunctionAgent = () => ({ finalOutput: "COMPLETE" });

function loopIn(p: Project, agent: FunctionAgent, more: Partial<LoopSpec> = {}): RalphLoop {
  const config = { task: "t", checks: ["true"], workspaceRoot: p.dir, home: join(p.home, ".ralph") };
  return new RalphLoop({ ...config, ...more }, agent);
}

it.each([
  [
    "timed out",
    "echo begun; sleep 60",
    { signal: expect.any(String), timedOut: true, output: /^begun\nTimeout: ended after [\d.]+s$/ },
  ],
  [
    "was killed",
    "echo begun; kill -9 $$",
    { signal: "SIGKILL", timedOut: false, output: /^begun\nKilled: SIGKILL$/ },
  ],
])("a check that %s says so", async (_, check, { output, ...ended }) => {
  const loop = loopIn(createProject(), idles, { checks: [check], maxIterations: 1, checkTimeout: 0.3 });
  const { iterations } = await loop.run();
  expect(iterations[0]?.checkResults).toEqual([
    { name: check, passed: false, exitCode: null, output: expect.stringMatching(output), ...ended },
  ]);
});

describe("cleanupWorktree", () => {
  it("keeps everything as long as work would be lost, and removes it when it is merged", async () => {
    const p = createProject();
    const loop = loopIn(p, works, { useWorktree: "mine" });
    const { worktreePath, success } = await loop.run();
    expect({ worktreePath, success }).toEqual({ worktreePath: `${p.dir}-worktrees/mine`, success: true });
    expect(await loop.cleanupWorktree()).toBe(false);
    expect(p.sh(`cat ${worktreePath}/work; git branch --list 'ralph/*' | wc -l`)).toBe("done\n1\n");
    p.sh("git merge -q ralph/mine");
    p.write("../project-worktrees/mine/later", "uncommitted");
    expect(await loop.cleanupWorktree()).toBe(false);
    expect(p.sh(`cat ${worktreePath}/later`)).toBe("uncommitted");
    p.sh(`rm ${worktreePath}/later`);
    expect(await loop.cleanupWorktree()).toBe(true);
    expect(p.sh("cat work; ls ../project-worktrees; git branch --list 'ralph/*'")).toBe("done\n");
    expect(await loop.cleanupWorktree()).toBe(false);
  });
});

describe("cleanupProgress", () => {
  it("removes the progress of the last run, and the records keep theirs", async () => {
    const p = createProject();
    const loop = loopIn(p, idles);
    await loop.run();
    expect(p.exists(".ralph/progress.md")).toBe(true);
    loop.cleanupProgress();
    loop.cleanupProgress();
    expect(p.exists(".ralph/progress.md")).toBe(false);
    expect(p.sh(`cat ${p.runFolder()}/progress.md`)).toContain("## Iteration 1 — PASS");
  });

  it("finds it in a worktree, also below its top folder, and leaves the one of the checkout alone", async () => {
    const p = createProject();
    mkdirSync(join(p.dir, "packages/a"), { recursive: true });
    p.write("packages/a/file", "x");
    p.sh("git add . && git commit -qm more");
    p.write("packages/a/.ralph/progress.md", "another run");
    const loop = loopIn(p, idles, { useWorktree: "mine", workspaceRoot: join(p.dir, "packages/a") });
    const { worktreePath } = await loop.run();
    const progress = join(worktreePath, "packages/a/.ralph/progress.md");
    expect(p.sh(`cat ${progress}`)).toContain("Iteration 1");
    loop.cleanupProgress();
    expect(p.sh(`ls ${progress} 2>&1 || true`)).toContain("No such file");
    expect(p.read("packages/a/.ralph/progress.md")).toBe("another run");
  });
});
