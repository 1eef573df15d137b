import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { splitWords } from "../../src/words.js";
import { claudeProject, createProject, eventually, isAlive, type Project, type Step } from "../kit.js";

const DONE: Step = { text: "All set.\n\nCOMPLETE" };
const WORK: Step = { bash: "echo work > ok; mkdir -p deep; echo more > deep/new", ...DONE };
const TITLE = "Make it ok";
const LOOP = ["loop", "Make it ok", "--check", "test -f ok"];

function project(...steps: Step[]): Project {
  const p = claudeProject(...steps);
  p.sh("mkdir sub && echo s > sub/s && git add sub && git commit -qm sub");
  return p;
}

/** Staged, unstaged and untracked changes of the user. */
const DIRTY =
  "echo s >> staged && git add staged && echo u >> README.md && echo n > 'un tracked' && git stash list";

/** All that a user would miss: every file of the checkout, the index, HEAD, the stash and the branches. */
function checkout(p: Project): string {
  return p.sh(
    `find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 sha256sum; sha256sum .git/index .git/HEAD;
    git stash list; git for-each-ref --format='%(refname) %(objectname)' refs/heads/main refs/tags refs/stash`,
  );
}

const treeOf = (p: Project, name = "one") => `${p.dir}-worktrees/${name}`;
const commits = (p: Project, branch = "ralph/one") => p.sh(`git log --format=%s main..${branch}`).trim();

/** `ralph land NAME` of the latest run. */
const commandOf = (p: Project) => (command: string) =>
  `ralph ${command} ${JSON.parse(readFileSync(join(p.runFolder(), "spec.json"), "utf8")).name}`;

/** The value of a row of the closing summary. */
function row(output: string, name: string): string {
  return new RegExp(`^ {2}${name} +(.*)$`, "m").exec(output)?.[1] ?? "";
}

function traces(p: Project): unknown {
  return {
    folder: existsSync(`${p.dir}-worktrees`),
    branches: p.sh("git branch --list 'ralph/*'"),
    entries: p.sh("git worktree list").split("\n").length - 1,
  };
}
const NOTHING = { folder: false, branches: "", entries: 1 };

describe("ralph loop --worktree", () => {
  it("works beside a dirty checkout, commits what is left, and says how to bring it home", async () => {
    const p = project(WORK);
    p.sh(DIRTY);
    const before = checkout(p);
    const { code, stdout, stderr } = await p.ralph(...LOOP, "--worktree", "one");
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: "ralph: warning: the worktree does not have the uncommitted changes of this checkout\n",
    });
    expect(checkout(p)).toBe(before);
    expect(row(stdout, "worktree")).toBe(treeOf(p));
    expect(p.sh("git diff --name-only main ralph/one")).toBe("deep/new\nok\n");
    expect([row(stdout, "diff"), row(stdout, "land")]).toEqual(["diff", "land"].map(commandOf(p)));
    expect(await p.ralph("land")).toMatchObject({ code: 0 });
    expect([p.read("ok"), p.read("deep/new"), p.sh("git status --porcelain")]).toEqual([
      "work\n",
      "more\n",
      ' M README.md\nA  staged\n?? .ralph/\n?? "un tracked"\n',
    ]);
    expect(traces(p)).toEqual(NOTHING);
  });

  it("chooses a name from the task and the run", async () => {
    const p = project(WORK);
    const { finished } = await p.ralph(
      ...splitWords("loop 'Añade JWT: «auth»!' --check true --worktree --json"),
    );
    expect(finished.worktree).toBe(treeOf(p, `an-ade-jwt-auth-${finished.run.slice(-6)}`));
  });

  it("works in the folder that it was started in", async () => {
    const p = project({ bash: "pwd > ok", ...DONE });
    const sub = join(p.dir, "sub");
    const { code } = await p.ralphWith({ cwd: sub }, ...LOOP, "--worktree", "one", "--agent", "claude");
    expect([code, readFileSync(join(treeOf(p), "sub/ok"), "utf8")]).toEqual([0, `${treeOf(p)}/sub\n`]);
    expect(p.sh("git diff --name-only main ralph/one")).toBe("sub/ok\n");
  });

  it("uses the settings of the checkout, and commits changed settings but no runtime files", async () => {
    const p = project(
      { bash: 'mkdir -p .ralph; echo \'{"agent":{"command":"none"}}\' > .ralph/settings.json', text: "x" },
      WORK,
    );
    p.settings({ agent: { command: "claude" }, setup: "echo made > setup.txt" });
    const { code } = await p.ralph(...LOOP, "--worktree", "one");
    expect([code, p.calls(), existsSync(join(treeOf(p), ".ralph/progress.md"))]).toEqual([0, 2, true]);
    expect(p.sh("git diff --name-only main ralph/one")).toBe(
      ".ralph/settings.json\ndeep/new\nok\nsetup.txt\n",
    );
  });

  it("starts an agent that is named by its path from the checkout, and again on resume", async () => {
    const p = project();
    const script =
      "#!/bin/sh\ncat > /dev/null\necho x >> count\ntest $(wc -l < count) = 1 || touch ok\necho COMPLETE\n";
    chmodSync(p.write("my-agent", script), 0o755);
    expect((await p.ralph(...LOOP, "--worktree", "one", "--agent", "./my-agent", "-n", "1")).code).toBe(1);
    expect((await p.ralph("resume", "-n", "2")).code).toBe(0);
  });

  it("works in its worktree although git was told to work elsewhere, as in a hook", async () => {
    const p = project({ bash: "touch ok && git add ok && git commit -qm n", text: "COMPLETE" });
    const before = readFileSync(join(p.dir, ".git/index"));
    const env = { GIT_INDEX_FILE: join(p.dir, ".git/index"), GIT_DIR: join(p.dir, ".git") };
    const { code } = await p.ralphWith({ env }, ...LOOP, "--worktree", "one");
    expect([
      code,
      p.sh("git log --format=%s -1 ralph/one"),
      p.sh("git status --porcelain -- . :!.ralph"),
    ]).toEqual([0, "n\n", ""]);
    expect(readFileSync(join(p.dir, ".git/index"))).toEqual(before);
  });

  it("says what is not committed, in place of how to merge it", async () => {
    const p = project({ bash: "touch ok; rm .git", ...DONE });
    const { code, stdout, stderr } = await p.ralph(...LOOP, "--worktree", "one");
    const why = `work is left uncommitted in ${treeOf(p)}: its .git is gone`;
    expect([code, stderr]).toEqual([0, expect.stringContaining(`warning: scm commit failed: ${why}`)]);
    expect({
      reason: row(stdout, "reason"),
      rest: ["worktree", "land"].map((name) => row(stdout, name)),
    }).toEqual({ reason: expect.stringContaining(why) as string, rest: [treeOf(p), ""] });
  });
});

describe("what is left is committed whatever ended the run", () => {
  it.each<[string, Step[], string[], string]>([
    ["success", [WORK], [], "all_checks_passed"],
    ["the maximum of iterations", [{ bash: "echo x > deep.txt", text: "no" }], ["-n", "1"], "max_iterations"],
    ["the budget", [{ bash: "echo x > a", text: "no", cost: 2 }], ["--max-cost", "1"], "budget_exhausted"],
    ["an agent that fails", [{ bash: "echo x > a", exit: 1 }], ["--max-failures", "1"], "agent_failed"],
    ["being stuck", [{ bash: "echo x > a", text: "no" }], ["--stuck-after", "1"], "stuck"],
    ["a spec that is gone", [{ bash: "echo x > a; rm $SPEC", text: "no" }], [], "error"],
  ])("%s", async (_, steps, flags, reason) => {
    const p = project(...steps);
    const spec = p.write("SPEC.md", "Make it ok");
    const args = ["loop", "--spec", "SPEC.md", "--check", "test -f ok", "--worktree", "one", "--json"];
    const { finished } = await p.ralphWith({ env: { SPEC: spec } }, ...args, ...flags);
    expect(finished).toMatchObject({ reason, worktree: treeOf(p) });
    expect(commits(p)).toBe("Work on SPEC.md");
    expect(p.sh(`git -C '${treeOf(p)}' status --porcelain`)).toBe("");
  });

  it("Ctrl+C, once and twice", async () => {
    const p = project({ bash: "echo x > a", sleepMs: 60_000 });
    const run = p.start([...LOOP, "--worktree", "one", "--json"]);
    await eventually(() => existsSync(join(treeOf(p), "a")));
    run.child.kill("SIGINT");
    await run.until((output) => output.includes("shutting down"));
    run.child.kill("SIGINT");
    const { code, finished } = await run.result;
    expect({ code, finished }).toMatchObject({
      code: 130,
      finished: { reason: "interrupted", worktree: treeOf(p) },
    });
    expect(commits(p)).toBe(TITLE);
    expect((await p.ralph("report")).code).toBe(0);
  });
});

describe("ralph run --worktree", () => {
  it("reads a prompt file that is not committed, commits with scm, and leaves the checkout alone", async () => {
    const p = project({ bash: "echo 1 > a", text: "<response>DONE</response>" });
    p.settings({ agent: { command: "claude" }, scm: { command: "git", tasks: ["commit"] } });
    p.agent([{ bash: "echo 1 > a", text: "<response>DONE</response>" }], { commit: "Add a" });
    p.write("P.md", "do it");
    p.sh(DIRTY);
    const before = checkout(p);
    const asked = ["run", "-f", "P.md", "--no-done-instruction"];
    const { code, finished } = await p.ralph(...asked, "--worktree", "one", "--json");
    expect({ code, worktree: finished.worktree }).toEqual({ code: 0, worktree: treeOf(p) });
    expect([commits(p), p.prompt(1)]).toEqual(["Add a", "do it"]);
    expect(checkout(p)).toBe(before);
  });
});

describe("a worktree that is there", () => {
  it("goes on with its run when that is not done and was asked for the same", async () => {
    const p = project({ bash: "echo x > a", text: "no" }, WORK);
    await p.ralph(...LOOP, "--worktree", "one", "-n", "1");
    const other = await p.ralph("loop", "other", "--check", "false", "--worktree", "one", "-n", "2");
    expect({ code: other.code, stderr: other.stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(
        /^ralph: error: the worktree belongs to run \S+, which has another task \(/,
      ),
    });
    const { code, stderr, finished } = await p.ralph(...LOOP, "--worktree", "one", "-n", "2", "--json");
    expect({ code, finished }).toMatchObject({ code: 0, finished: { iterations: 2, worktree: treeOf(p) } });
    expect(stderr).toMatch(/^ralph: the worktree belongs to run \S+, which continues\n$/);
    expect(p.prompt(2)).toContain("Make it ok");
  });

  it.each([
    [
      "a finished run",
      async (p: Project) => void (await p.ralph(...LOOP, "--worktree", "one")),
      "is completed",
      (p: Project) =>
        `(choose another name, or merge and remove it: git merge ralph/one && git worktree remove ${treeOf(p)} && git branch -d ralph/one)`,
    ],
    [
      "a branch",
      (p: Project) => void p.sh("git branch ralph/one"),
      "the branch ralph/one is there",
      () => "(choose another name)",
    ],
    [
      "a folder",
      (p: Project) => void mkdirSync(treeOf(p), { recursive: true }),
      "project-worktrees/one is there",
      () => "(choose another name)",
    ],
    [
      "a worktree without a run",
      (p: Project) => void p.sh(`git worktree add -q -b ralph/one '${treeOf(p)}'`),
      "project-worktrees/one is there",
      () => "(choose another name)",
    ],
  ])("is refused and left alone when it belongs to %s", async (_, prepare, why, hint) => {
    const p = project(WORK);
    await prepare(p);
    const [before, calls] = [p.sh("git for-each-ref"), p.calls()];
    const { code, stderr } = await p.ralph(...LOOP, "--worktree", "one");
    expect([code, stderr]).toEqual([2, expect.stringContaining("the worktree name one is in use: ")]);
    expect(stderr).toContain(why);
    expect(stderr).toContain(hint(p));
    expect([p.sh("git for-each-ref"), p.calls()]).toEqual([before, calls]);
  });

  it("is refused while its run is active", async () => {
    const p = project({ sleepMs: 60_000 });
    const run = p.start([...LOOP, "--worktree", "one"]);
    await eventually(() => p.calls() === 1);
    const { code, stderr } = await p.ralph(...LOOP, "--worktree", "one");
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(
        new RegExp(`the worktree one is in use: run \\S+ \\(pid ${run.child.pid}\\) is running in it`),
      ) as string,
    });
    expect(p.calls()).toBe(1);
  });

  it("belongs to one of two who start at the same moment", async () => {
    const p = project({ sleepMs: 1500, ...WORK });
    const both = await Promise.all([1, 2].map(() => p.ralph(...LOOP, "--worktree", "one")));
    expect(both.map(({ code }) => code).sort()).toEqual([0, 2]);
    expect([p.calls(), p.sh("git diff --name-only main ralph/one")]).toEqual([1, "deep/new\nok\n"]);
  });
});

describe("wrong places and names", () => {
  it("no repository, no commit, no checkout", async () => {
    const p = createProject({ git: false });
    p.agent([WORK]);
    const told = async () => {
      const { code, stderr } = await p.ralph(...LOOP, "--worktree");
      return [code, stderr.replace(p.dir, "HERE")];
    };
    expect(await told()).toEqual([
      2,
      "ralph: error: --worktree needs a git repository: HERE (run git init and commit something, or leave --worktree out)\n",
    ]);
    p.sh("git init -q .");
    expect(await told()).toEqual([
      2,
      "ralph: error: a worktree needs a commit, and this repository has none (commit something first)\n",
    ]);
    p.sh("rm -rf .git && git init -q --bare .");
    expect(await told()).toEqual([
      2,
      "ralph: error: --worktree needs a checkout, and this is not one: HERE (start it in a clone, or leave --worktree out)\n",
    ]);
    expect(p.calls()).toBe(0);
  });

  it("a branch where that of the worktree would be", async () => {
    const p = project(WORK);
    p.sh("git branch ralph");
    expect(await p.ralph(...LOOP, "--worktree", "one")).toMatchObject({
      code: 2,
      stderr:
        "ralph: error: git cannot create the branch ralph/one while there is a branch ralph (git branch -m ralph NAME renames it)\n",
    });
    expect([p.calls(), traces(p)]).toEqual([0, NOTHING]);
  });
});

describe("setup in the settings", () => {
  it("is suggested before an agent starts where the worktree lacks its dependencies, and not on resume", async () => {
    const p = project({ text: "no" }, WORK);
    p.write("package.json", '{"dependencies":{"left-pad":"1"}}');
    p.write("package-lock.json", "{}");
    p.sh("git add -A && git commit -qm package");
    const { stderr } = await p.ralph(...LOOP, "--worktree", "one", "-n", "1");
    expect(stderr).toBe(
      "ralph: warning: the new worktree has no node_modules (package.json), so checks may fail: ralph config set setup 'npm ci' installs it in every new worktree\n",
    );
    expect((await p.ralph("resume", "-n", "2", "-q")).stderr).toBe("");
    p.settings({ agent: { command: "claude" }, setup: "mkdir node_modules" });
    p.agent([WORK]);
    expect((await p.ralph(...LOOP, "--worktree", "two", "-n", "1")).stderr).not.toContain("warning");
  });

  it("runs once, and not again on resume", async () => {
    const p = project({ text: "no" }, WORK);
    p.settings({ agent: { command: "claude" }, setup: "echo x >> ../count" });
    const { stderr } = await p.ralph(...LOOP, "--worktree", "one", "-n", "1");
    expect(stderr).toBe("ralph: setting up the worktree: echo x >> ../count\n");
    expect((await p.ralph("resume", "-n", "2")).code).toBe(0);
    expect(readFileSync(`${p.dir}-worktrees/count`, "utf8")).toBe("x\n");
  });

  it("leaves nothing after a signal", async () => {
    const p = project(WORK);
    p.settings({ agent: { command: "claude" }, setup: `echo $$ > '${p.root}/pid'; sleep 4716` });
    const run = p.start([...LOOP, "--worktree", "one"]);
    await eventually(
      () => existsSync(join(p.root, "pid")) && readFileSync(join(p.root, "pid"), "utf8") !== "",
    );
    run.child.kill("SIGTERM");
    const { code, stderr } = await run.result;
    expect([code, stderr]).toEqual([
      130,
      expect.stringContaining("interrupted while ralph prepared the worktree"),
    ]);
    expect([p.calls(), traces(p)]).toEqual([0, NOTHING]);
    expect(isAlive(Number(readFileSync(join(p.root, "pid"), "utf8")))).toBe(false);
  });
});

describe("ralph resume, runs and report", () => {
  const FROM: [string, (p: Project) => string][] = [
    ["the checkout", (p) => p.dir],
    ["the worktree", (p) => treeOf(p)],
  ];

  it.each(FROM)("go on from %s after kill -9, and the checkout stays as it was", async (_, folder) => {
    const p = project({ bash: "echo 1 > a", text: "no" }, { bash: "echo 2 > b", sleepMs: 60_000 }, WORK);
    p.sh(DIRTY);
    const before = checkout(p);
    const run = p.start([...LOOP, "--worktree", "one"]);
    await eventually(() => p.calls() === 2 && existsSync(join(treeOf(p), "b")));
    run.child.kill("SIGKILL");
    await run.result;
    expect(checkout(p)).toBe(before);
    const { code, finished } = await p.ralphWith({ cwd: folder(p) }, "resume", "--json");
    expect({ code, finished }).toMatchObject({ code: 0, finished: { iterations: 2, worktree: treeOf(p) } });
    expect(p.prompt(3)).toContain("+++ b/a");
    expect(p.sh("git diff --name-only main ralph/one")).toBe("a\nb\ndeep/new\nok\n");
    expect(checkout(p)).toBe(before);
  });

  it("say so when the worktree was deleted by hand, and go on when it is back", async () => {
    const p = project({ bash: "echo x > a", text: "no" }, WORK);
    const { finished } = await p.ralph(...LOOP, "--worktree", "one", "-n", "1", "--json");
    rmSync(treeOf(p), { recursive: true });
    const back = `git worktree add --force ${treeOf(p)} ralph/one`;
    for (const args of [
      ["resume", "-n", "2"],
      [...LOOP, "--worktree", "one", "-n", "2"],
    ]) {
      const { code, stderr } = await p.ralph(...args);
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining(
          `ralph: error: the worktree of run ${finished.run} is gone: ${treeOf(p)} (if its branch is still there: ${back})\n`,
        ),
      ]);
    }
    expect([(await p.ralph("runs")).code, (await p.ralph("report")).code]).toEqual([0, 0]);
    p.sh(back);
    expect((await p.ralph("resume", "-n", "2")).code).toBe(0);
    expect(p.sh("git diff --name-only main ralph/one")).toBe("a\ndeep/new\nok\n");
  });
});
