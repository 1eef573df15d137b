import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { git, quietEnvironment, repositoryRoot } from "../../src/workspace/git.js";
import { createProject, type Project, temporaryFolder } from "../kit.js";

let project: Project;
beforeEach(() => {
  project = createProject();
  for (const [name, value] of Object.entries(project.env)) vi.stubEnv(name, value);
});
afterEach(() => vi.unstubAllEnvs());

describe("git", () => {
  it("runs in the workspace and returns what it said", async () => {
    expect(await git(project.dir, ["rev-parse", "--abbrev-ref", "HEAD"])).toMatchObject({
      ok: true,
      exitCode: 0,
      stdout: "main\n",
      stderr: "",
    });
  });

  it("returns its failure as a value", async () => {
    const failed = await git(project.dir, ["rev-parse", "--verify", "no-such-thing"]);
    expect(failed).toMatchObject({ ok: false, exitCode: 128, stderr: expect.stringContaining("fatal:") });
  });

  it("passes no argument through a shell", async () => {
    const { stdout } = await git(project.dir, ["log", "-1", "--format=$(touch x) `touch y` ; touch z %s"]);
    expect(stdout).toBe("$(touch x) `touch y` ; touch z init\n");
    expect(["x", "y", "z"].filter(project.exists)).toEqual([]);
  });

  it("never asks on the terminal", async () => {
    expect(quietEnvironment()).toMatchObject({ GIT_TERMINAL_PROMPT: "0", HOME: project.home });
    const { ok, stdout } = await git(project.dir, ["config", "--get-color", "", "red"]);
    expect([ok, stdout.length > 0]).toEqual([true, true]);
  });
});

describe("repositoryRoot", () => {
  it("is the top folder of the repository", () => {
    mkdirSync(join(project.dir, "a", "b"), { recursive: true });
    expect(repositoryRoot(project.dir)).toBe(project.dir);
    expect(repositoryRoot(join(project.dir, "a", "b"))).toBe(project.dir);
  });

  it("is the nearest one", () => {
    project.sh("mkdir -p inner/deep && git init -q inner");
    expect(repositoryRoot(join(project.dir, "inner", "deep"))).toBe(join(project.dir, "inner"));
  });

  it("knows worktrees and submodules, where .git is a file", () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, ".git"), "gitdir: /elsewhere\n");
    expect(repositoryRoot(folder)).toBe(folder);
  });

  it("is undefined outside of one", () => {
    expect(repositoryRoot(temporaryFolder())).toBeUndefined();
    expect(repositoryRoot("/")).toBeUndefined();
  });
});
