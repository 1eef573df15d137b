import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import type { LoopEvent } from "../../src/events.js";
import { atEnd, createProject, type Project, type Step } from "../kit.js";

const DONE = "<response>DONE</response>";

function project(...steps: Step[]): Project {
  const p = createProject();
  p.settings({ agent: { command: "claude" }, protect: ["tests/**", "spec.md"] });
  p.write("tests/a", "good\n");
  p.write("tests/b", "b\n");
  p.write("tests/run.sh", "exit 0\n");
  p.sh("mkdir ../outside; echo spec > ../outside/spec.md; ln -s ../outside/spec.md spec.md");
  p.sh("git add -A && git commit -qm tests");
  p.agent(steps);
  return p;
}

function reasons(events: LoopEvent[]): string[] {
  return events.flatMap((event) => (event.type === "iteration.finished" ? [event.reason] : []));
}

const TRACKED = "git ls-tree -r HEAD -- tests spec.md";

const isRoot = process.getuid?.() === 0;

describe("a run with protected files does not succeed", () => {
  it("while one of them could not be put back; that ends it, and resume does not forget it", async () => {
    const cheat = "rm -rf ../outside; echo x > ../outside";
    const p = project({ bash: cheat, text: DONE });
    const { code, finished, events } = await p.ralph("run", "-p", "a", "--check", "true", "--json");
    expect({ code, finished }).toMatchObject({ code: 1, finished: { reason: "violation", iterations: 3 } });
    expect(reasons(events)[0]).toMatch(
      /^ralph could not restore protected files: spec\.md \(a part of the path is not a directory\); /,
    );
    expect(p.prompt(2)).toContain("- spec.md is protected, but it was deleted: ralph could not restore it (");
    const again = await p.ralph("resume", finished.run, "-n", "4", "--json");
    expect(again.finished).toMatchObject({ iterations: 4, success: false });
    p.agent([{ text: DONE }]);
    p.sh("rm ../outside; mkdir ../outside");
    const honest = await p.ralph("resume", finished.run, "-n", "9", "--json");
    expect(honest.finished).toMatchObject({ reason: "completed" });
    expect(p.read("spec.md")).toBe("spec\n");
  });

  it.runIf(isRoot).each([
    ["run", "a file is mounted over it", "echo x > cheat; mount --bind cheat tests/a"],
    [
      "loop",
      "a folder is mounted around a new one",
      "mkdir tests/new; mount -t tmpfs t tests/new; touch tests/new/x; mount -o remount,ro tests/new",
    ],
  ])("of `ralph %s` while %s", async (command, _, cheat) => {
    const step = `grep -q "$PWD/tests/" /proc/self/mountinfo || { ${cheat}; }`;
    const p = project({ bash: step, text: `COMPLETE\n${DONE}` });
    atEnd(() => execFileSync("sh", ["-c", `umount -l ${p.dir}/tests/a || umount -l ${p.dir}/tests/new`]));
    const task = command === "run" ? ["-p", "a"] : ["a"];
    const { code, finished, events } = await p.ralph(command, ...task, "--check", "true", "--json");
    expect({ code, finished }).toMatchObject({ code: 1, finished: { reason: "violation", iterations: 3 } });
    expect(reasons(events)[0]).toMatch(
      /ralph could not restore protected files: tests\/(a|new\/x) \((EBUSY|read-only)/,
    );
    expect(events.filter(({ type }) => type === "violation")).toHaveLength(3);
    // What ran on other files has not passed.
    expect(events.find((event) => event.type === "check.finished")).toMatchObject({ passed: false });
  });

  it("on a check that changed one of them while it ran", async () => {
    const p = project({ text: DONE });
    const check = "cp tests/a copy; echo weak > tests/a; touch tests/report";
    const once = `test -e .git/twice || { touch .git/twice; ${check}; }`;
    const { code, finished, events } = await p.ralph("run", "-p", "a", "--check", once, "--json");
    expect({ code, finished }).toMatchObject({ code: 0, finished: { reason: "completed", iterations: 2 } });
    expect(reasons(events)[0]).toMatch(/^protected files changed during verification: tests\/a; /);
    expect(p.prompt(2)).toContain(
      "- tests/a is protected, but it changed while a check ran: ralph restored it",
    );
    expect(events.filter(({ type }) => type === "violation")).toHaveLength(1);
    expect([p.read("tests/a"), p.exists("tests/report")]).toEqual(["good\n", false]);
  });
});

describe("the commit that a run with protected files ends on", () => {
  it.each<[string, string]>([
    [
      "was changed and put back on the disk alone",
      "echo weak > tests/a; git commit -qam x; echo good > tests/a",
    ],
    [
      "was changed and put back in the index",
      "echo weak > tests/a; git commit -qam x; git checkout -q HEAD~ tests",
    ],
    [
      "is new and ignored",
      "echo new > .gitignore; echo x > tests/new; git add -Af; git commit -qm x; rm tests/new",
    ],
    [
      "was changed where a hook refuses commits",
      "echo w > tests/a; git commit -qam x; printf '#!/bin/sh\\nexit 1' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
    ],
  ])("holds them as they were verified where one %s", async (_, cheat) => {
    const p = project({ bash: `echo work > work; git add work; ${cheat}`, text: DONE });
    const before = p.sh(TRACKED);
    const { code, events } = await p.ralph("run", "-p", "a", "--check", "true", "--json");
    expect({ code, tracked: p.sh(TRACKED) }).toEqual({ code: 0, tracked: before });
    expect(events.some(({ type }) => type === "violation")).toBe(true);
    expect(
      p.sh("git show HEAD~:work; git status --porcelain -- tests spec.md; git log -1 --format=%s"),
    ).toMatch(/^work\nralph: put back tests\//);
  });

  it("keeps the user's uncommitted state on the disk, and is not blamed for it", async () => {
    const p = project({ bash: "echo weak > tests/a; git add -A; git commit -qm x", text: DONE });
    p.write("tests/a", "mine\n");
    p.write("tests/b", "mine, too\n");
    p.write("tests/mine", "mine as well\n");
    await p.ralph("run", "-p", "a", "--json");
    expect(p.sh("git show HEAD:tests/a HEAD:tests/b HEAD:tests/mine; git status --porcelain tests")).toBe(
      "good\nmine, too\nmine as well\n M tests/a\n",
    );
    expect(p.read("tests/a")).toBe("mine\n");
  });

  it("leaves alone what else is staged", async () => {
    const p = project({ bash: "echo weak > tests/a; git commit -qam x; echo s > s; git add s", text: DONE });
    await p.ralph("run", "-p", "a", "--json");
    expect(p.sh("git status --porcelain s tests; git show --stat --format= HEAD")).toMatch(
      /^A {2}s\n tests\/a \| 2 \+-\n/,
    );
  });

  it.each([
    ["a branch of the agent's own", "git checkout -qb own; echo weak > tests/a; git commit -qam x"],
    [
      "the branch that it began on, and it left that",
      "echo weak > tests/a; git commit -qam x; git checkout -qb own HEAD~",
    ],
  ])("is no success where %s holds others", async (_, cheat) => {
    const p = project({ bash: `git rev-parse -q --verify own || { ${cheat}; }`, text: DONE });
    const { code, finished, events } = await p.ralph("run", "-p", "a", "--check", "true", "--json");
    expect({ code, finished }).toMatchObject({ code: 1, finished: { reason: "violation" } });
    expect(reasons(events)[0]).toContain("tests/a (the run began on ");
  });

  it("is no success where a submodule holds others, until that is undone there", async () => {
    const p = project(
      { bash: "cd lib && echo weak > a && git commit -qam x", text: DONE },
      { bash: "cd lib && git commit -qam back", text: DONE },
    );
    p.settings({ agent: { command: "claude" }, protect: ["lib/**"] });
    p.sh("git init -q ../lib && echo good > ../lib/a && git -C ../lib add a && git -C ../lib commit -qm a");
    p.sh("git -c protocol.file.allow=always submodule --quiet add ../lib lib && git commit -qam lib");
    const { finished, events } = await p.ralph("run", "-p", "a", "--check", "grep good lib/a", "--json");
    expect(finished).toMatchObject({ reason: "completed", iterations: 2 });
    expect(reasons(events)[0]).toContain("lib/a (it is committed in lib: undo it there)");
  });

  it("is theirs in a worktree and a folder of the repository, too", async () => {
    const p = project({ bash: "echo weak > tests/a; git commit -qam x", text: DONE });
    p.sh("mkdir -p sub && cp -r tests .ralph sub && git add -A && git commit -qm sub");
    await p.ralph("run", "-p", "a", "--worktree", "w", "--json");
    expect(p.sh("git show ralph/w:tests/a; git log --format=%s ralph/w | head -2")).toBe(
      "good\nralph: put back tests/a\nx\n",
    );
    p.agent([{ bash: "echo weak > tests/a; git commit -qam x", text: DONE }]);
    const run = p.start(["run", "-p", "a", "--json"], { cwd: `${p.dir}/sub` });
    expect(await run.result).toMatchObject({ code: 0 });
    expect(p.sh("git show HEAD:sub/tests/a; git show HEAD~:sub/tests/a")).toBe("good\nweak\n");
  });
});

describe("what appears among protected files", () => {
  it("is taken away, whatever git ignores; bytecode beside them is dropped before the checks", async () => {
    const p = project({
      bash: `mkdir -p tests/node_modules/assert tests/__pycache__ tests/.pytest_cache sub/node_modules
        echo x > tests/node_modules/assert/index.js; echo x > tests/__pycache__/a.pyc; echo x > tests/a.pyc
        echo conftest.py >> .gitignore; echo x > tests/conftest.py; echo x > tests/.pytest_cache/x`,
      text: DONE,
    });
    p.write(".gitignore", "node_modules\n*.pyc\n__pycache__\n.pytest_cache\n");
    p.sh("mkdir -p tests/deep/node_modules; touch tests/deep/node_modules/x; git add -A; git commit -qm i");
    const { code, events } = await p.ralph("run", "-p", "a", "--check", "ls -A tests", "--json");
    expect(code).toBe(0);
    expect(events.find((event) => event.type === "check.finished")).toMatchObject({
      output: ".pytest_cache\na\nb\ndeep\nrun.sh\n",
    });
    expect(events.flatMap((event) => (event.type === "violation" ? [event.file] : []))).toEqual([
      "tests/conftest.py",
      "tests/node_modules",
    ]);
    expect(p.exists("tests/deep/node_modules/x")).toBe(true);
  });
});
