import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { undoInGit } from "../../src/verify/protected/in-git.js";
import { git } from "../../src/workspace/git.js";
import { runScm } from "../../src/workspace/scm.js";
import { dirtySubmodules, stage } from "../../src/workspace/stage.js";
import { uncommittedFiles } from "../../src/workspace/uncommitted.js";
import { createProject, type Project, temporaryFolder } from "../kit.js";

let project: Project;
beforeEach(() => {
  project = createProject();
  for (const [name, value] of Object.entries(project.env)) vi.stubEnv(name, value);
});
afterEach(() => vi.unstubAllEnvs());

describe("git", () => {
  it("tries again where another git is just making or removing a worktree", async () => {
    const real = project.sh("command -v git").trim();
    const said = [
      "failed to read .git/worktrees/a/commondir: Success",
      "Invalid path '/p/.git/worktrees/a': no",
    ];
    project.program(
      "git",
      `#!/bin/sh\necho x >> "$0.calls"\ncase $(wc -l < "$0.calls") in\n  1) echo "fatal: ${said[0]}" >&2; exit 128 ;;\n  2) echo "fatal: ${said[1]}" >&2; exit 128 ;;\nesac\nexec ${real} "$@"\n`,
    );
    const { ok, stdout } = await git(project.dir, ["rev-parse", "--is-inside-work-tree"]);
    expect({ ok, stdout }).toEqual({ ok: true, stdout: "true\n" });
  });
});

describe("files that an agent wrote", () => {
  const scmContext = {
    workspace: "",
    redact: (text: string) => text,
    kill: new AbortController().signal,
    askForMessage: async () => ({ text: "message" }),
  };
  const asked = ["status", "--porcelain", "--ignore-submodules=none"];

  it("are no repository without a .git", async () => {
    const folder = temporaryFolder();
    project.sh(
      `git init -q --bare ${folder} && git -C ${folder} config core.fsmonitor 'touch ${folder}/ran'`,
    );
    project.sh(`git -C ${folder} config core.bare false; git -C ${folder} config core.worktree ${folder}`);
    expect((await git(folder, asked)).ok).toBe(false);
    expect(existsSync(join(folder, "ran"))).toBe(false);
  });

  it("name no monitor and no hooks, also in a submodule", async () => {
    project.sh("git init -q sub && cd sub && git commit -q --allow-empty -m sub && cd .. && git add sub");
    project.sh(
      `git commit -qm sub && echo x > sub/x && git -C sub config core.fsmonitor 'touch ${project.dir}/ran'`,
    );
    project.sh(`printf '#!/bin/sh\ntouch ran' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit`);
    const said = [
      await git(project.dir, asked),
      await git(project.dir, ["commit", "--allow-empty", "-m", "x"]),
    ];
    expect([...said.map(({ ok }) => ok), project.exists("ran")]).toEqual([true, true, false]);
    await git(project.dir, ["commit", "--allow-empty", "-m", "x"], { hooks: true });
    expect(project.exists("ran")).toBe(true);
  });

  it("name no filters in a submodule, whatever ralph does in the project", async () => {
    project.sh(
      "git init -q own && cd own && echo 1 > f && git add f && git commit -qm own && cd .. && git add own",
    );
    project.sh(`git commit -qm own && git -C own config filter.x.clean 'touch ${project.dir}/ran; cat'`);
    project.sh("echo '* filter=x' > own/.gitattributes");
    const start = { top: project.dir, branch: "", head: "HEAD", index: "HEAD" };
    const ways = {
      stage: () => stage(project.dir, ["."]),
      "stage that alone": () => stage(project.dir, [":(top,literal)own"]),
      "commit all": () =>
        runScm(
          { command: "git", tasks: ["commit"], stage: "tracked" },
          { ...scmContext, workspace: project.dir },
          1,
        ).next(),
      "look for changes": () => uncommittedFiles(project.dir),
      "look into submodules": () => dirtySubmodules(project.dir, ["own"]),
      "put back what was staged": () => undoInGit(project.dir, start, () => "f"),
    };
    const ran: string[] = [];
    for (const [at, [name, way]] of Object.entries(ways).entries()) {
      // Of the same size, so that git has to read it.
      project.sh(`echo ${at + 2} > own/f; echo ${name} > changed; rm -f ran`);
      await way();
      if (project.exists("ran")) ran.push(name);
    }
    expect(ran).toEqual([]);
  });
});
