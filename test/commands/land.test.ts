import { existsSync } from "node:fs";
import { beforeEach, describe, expect, it } from "vitest";
import { claudeProject, type Project } from "../kit.js";
import { everythingOf } from "../workspace/landing/kit.js";

let p: Project;
beforeEach(() => {
  p = claudeProject({ bash: "echo new > made.txt", text: "done\nCOMPLETE" });
  p.sh("printf 'one\\ntwo\\nthree\\n' > shared.txt && git add shared.txt .ralph && git commit -qm base");
});

/** A finished run in a worktree; its id. */
async function finished(bash = "echo new > made.txt", check = "test -f shared.txt", ...more: string[]) {
  p.agent([{ bash, text: "done\nCOMPLETE" }]);
  const flags = ["--check", check, "--worktree", "w", "--json", ...more];
  const { finished: end, all } = await p.ralph("loop", "Add a file", ...flags);
  expect(end.success, all).toBe(true);
  return end.run;
}

const commit = (name: string): string => p.sh(`git rev-parse ${name}`).trim();

describe("ralph land", () => {
  it("brings the work into the branch that the run was started from, and cleans up", async () => {
    const run = await finished();
    const [old, tip] = [commit("main"), commit("ralph/w")];
    p.sh("echo mine > README.md && echo loose > loose.txt");
    const { code, stdout, all } = await p.ralph("land");
    expect(code, all).toBe(0);
    expect(stdout).toMatch(
      /^Landed in main: Add a file \(\w+\.\.\w+ · 1 check passed on the merge, twice\)\n/,
    );
    expect(p.sh("git log -1 --format=%P%n%B main")).toBe(
      `${old} ${tip}\nAdd a file\n\nRalph-Run: ${run}\n\n`,
    );
    expect(p.sh("git log -1 --format=%B ralph/w 2>/dev/null || git log -1 --format=%B main^2")).toBe(
      `Add a file\n\nRalph-Run: ${run}\n\n`,
    );
    expect(p.sh("cat made.txt README.md loose.txt")).toBe("new\nmine\nloose\n");
    expect(p.sh("git worktree list").trim().split("\n")).toHaveLength(1);
    expect(p.sh("git branch --list 'ralph/*'")).toBe("");
    expect(existsSync(`${p.dir}-worktrees`)).toBe(false);
    expect((await p.ralph("land", run)).stderr).toMatch(/was landed in main already/);
    const diff = await p.ralph("diff", run);
    expect(diff.stdout).toContain("+++ b/made.txt");
  });

  it("leaves the branch with --keep, squashes, and lands elsewhere", async () => {
    await finished();
    p.sh("git branch develop");
    const before = everythingOf(p);
    expect(await p.ralph("land", "--into", "develop", "--squash", "--keep")).toMatchObject({ code: 0 });
    expect(everythingOf(p)).toEqual(before);
    expect(p.sh("git log --format=%s develop | head -2")).toBe("Add a file\nbase\n");
    expect(p.sh("git branch --list 'ralph/*'").trim()).toBe("+ ralph/w");
    expect((await p.ralph("land", "--into", "develop")).stderr).toMatch(/was landed in develop already/);
    expect(await p.ralph("land")).toMatchObject({ code: 0 });
  });

  it("is told as events, and writes them down", async () => {
    await finished();
    const { events } = await p.ralph("land", "--json");
    expect(events.map(({ type }) => type)).toEqual(["landing.started", "landing.landed", "landing.cleaned"]);
    expect(events[0]).toMatchObject({
      ...{ into: "main", old: commit("main^1"), new: commit("main"), tip: commit("main^2") },
      checks: [{ command: "test -f shared.txt" }],
    });
    expect(events[1]).toMatchObject({
      ...{ into: "main", new: commit("main"), tip: commit("main^2") },
      checks: [{ command: "test -f shared.txt", passed: true }],
    });
    const { subject, predicate } = JSON.parse(p.sh(`cat ${p.runFolder()}/landing/main/receipt.json`));
    expect(subject[0]).toEqual({ name: "commit", digest: { gitCommit: commit("main") } });
    expect(predicate.result).toBe("PASSED");
    expect((await p.ralph("runs", "--json")).stdout).toContain('"done"');
  });

  it("says when nothing verifies the work, and lands it only when that is allowed", async () => {
    p.agent([{ bash: "echo new > made.txt", text: "<response>DONE</response>" }]);
    expect(await p.ralph("run", "Make it", "--worktree", "w")).toMatchObject({ code: 0 });
    const refused = await p.ralph("land");
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("--allow-unverified") });
    const landed = await p.ralph("land", "--allow-unverified");
    expect(landed).toMatchObject({ code: 0, stdout: expect.stringContaining("nothing verified it") });
  });

  it("does not land what fails on the merged files, nor what conflicts", async () => {
    await finished("echo new > made.txt", "! { test -f made.txt && test -f other.txt; }");
    p.sh("echo x > other.txt && git add other.txt && git commit -qm other");
    const before = everythingOf(p);
    expect(await p.ralph("land")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("not landed in main: checks fail on the merged files"),
    });
    expect(everythingOf(p)).toEqual(before);
  });

  it("runs hidden checks on the merged files, and asks for the command of one that nobody has any more", async () => {
    const hidden = ["--hidden-check", "! test -f other.txt"];
    await finished("echo new > made.txt", "true", ...hidden);
    p.sh("echo x > other.txt && git add other.txt && git commit -qm other");
    const before = everythingOf(p);
    expect(await p.ralph("land")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--hidden-check"),
    });
    const { code, stderr } = await p.ralph("land", ...hidden);
    expect([code, stderr]).toEqual([1, expect.stringContaining("merged files: hidden check 1")]);
    expect(everythingOf(p)).toEqual(before);
  });

  it("gives its checks no token, and the variables of the run", async () => {
    p.env["GH_TOKEN"] = "ghp_secret";
    await finished("echo new > made.txt", 'test -z "$GH_TOKEN" && test -n "$RALPH_RUN"');
    expect(await p.ralph("land")).toMatchObject({ code: 0 });
  });

  it("does not land what conflicts, and says in which files", async () => {
    await finished("sed -i s/two/TWO/ shared.txt");
    p.sh("sed -i s/two/zwei/ shared.txt && git commit -qam other");
    const before = everythingOf(p);
    const { code, stderr } = await p.ralph("land");
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining("not landed in main: conflicts in shared.txt (resolve them: cd "),
    ]);
    expect(everythingOf(p)).toEqual(before);
    const [, how = ""] = /resolve them: (.*); commit; ralph land/.exec(stderr) ?? [];
    p.sh(
      `(${how}) || true; cd ../project-worktrees/w && printf 'one\\nTWO zwei\\n' > shared.txt && git commit -qam both`,
    );
    expect(await p.ralph("land")).toMatchObject({ code: 0 });
    expect(p.sh("cat shared.txt")).toBe("one\nTWO zwei\n");
  });

  it("keeps a branch that is checked out elsewhere", async () => {
    await finished();
    p.sh("git worktree add -q --force ../mine ralph/w");
    const { code, stderr } = await p.ralph("land");
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining("kept the branch ralph/w: it is checked out in"),
    ]);
    expect(p.sh("cd ../mine && git status --porcelain --branch")).toBe("## ralph/w\n");
  });

  it("does not touch files of yours that are in the way", async () => {
    await finished();
    p.sh("echo mine > made.txt");
    const before = everythingOf(p);
    const { code, stderr } = await p.ralph("land");
    expect([code, stderr]).toEqual([2, expect.stringContaining("made.txt would be overwritten")]);
    expect(everythingOf(p)).toEqual(before);
  });

  it("refuses a branch that is not there, what is no name, the run's own branch, and one that is gone", async () => {
    await finished();
    const gone = "git worktree remove --force ../project-worktrees/w; git branch -qD ralph/w";
    for (const [script, flags, message] of [
      [":", ["--into", "nowhere"], "there is no branch nowhere"],
      [":", ["--into", ""], '--into "": not a name for a branch'],
      [":", ["--into", "ralph/w"], "is the branch of"],
      [gone, [], "the branch ralph/w of"],
    ] as const) {
      p.sh(script);
      const before = everythingOf(p, "");
      const { code, stderr } = await p.ralph("land", ...flags);
      expect([code, stderr, everythingOf(p, "")]).toEqual([2, expect.stringContaining(message), before]);
    }
  });

  it("refuses a run that failed, one without a worktree, and one from a detached HEAD", async () => {
    p.agent([{ text: "no" }]);
    await p.ralph("loop", "Fail", "--check", "false", "--worktree", "bad", "-n", "1");
    expect(await p.ralph("land")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("did not succeed"),
    });
    p.agent([{ text: "COMPLETE" }]);
    await p.ralph("loop", "Here", "--check", "true");
    expect(await p.ralph("land")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("no branch to land"),
    });
    p.sh("git checkout -q --detach");
    await finished();
    expect(await p.ralph("land")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--into BRANCH"),
    });
  });

  it("finishes what a kill cut off at any point", async () => {
    const run = await finished();
    const journal = `${p.runFolder()}/journal.ndjson`;
    const [old, tip] = [commit("main"), commit("ralph/w")];
    p.sh(`cp -a ${p.dir}-worktrees ../kept && cp -a .git ../git-kept`);
    expect(await p.ralph("land", run)).toMatchObject({ code: 0 });
    // Moved, and nothing said of it yet.
    const merged = commit("main");
    p.sh(`sed -i '/landing.landed/,$d' ${journal}`);
    expect(await p.ralph("land", run)).toMatchObject({ code: 0 });
    expect(commit("main")).toBe(merged);
    // Landed, and not cleaned yet.
    p.sh(`sed -i '/landing.cleaned/,$d' ${journal} && git branch ralph/w ${tip}`);
    expect(await p.ralph("land", run)).toMatchObject({ code: 0 });
    expect(p.sh("git branch --list 'ralph/*'")).toBe("");
    // Begun, and not moved.
    p.sh(
      `sed -i '/landing.landed/,$d' ${journal} && git branch ralph/w ${tip} && git reset -q --hard ${old}`,
    );
    expect(await p.ralph("land", run)).toMatchObject({ code: 0 });
    expect(p.sh("cat made.txt")).toBe("new\n");
  });
});

describe("ralph diff", () => {
  it("shows what each iteration changed, also of a run without a worktree, and nothing of yours", async () => {
    p.sh("echo mine > yours.txt");
    p.agent([
      { bash: "echo one > first.txt", text: "more" },
      { bash: "echo two > second.txt && echo one more >> first.txt", text: "COMPLETE" },
    ]);
    await p.ralph("loop", "Two files", "--check", "test -f second.txt");
    p.sh("echo later > later.txt && git add -A && git commit -qm later");
    const whole = (await p.ralph("diff")).stdout;
    expect([...whole.matchAll(/^\+\+\+ b\/(.*)$/gm)].map(([, name]) => name)).toEqual([
      "first.txt",
      "second.txt",
    ]);
    expect((await p.ralph("diff", "--iteration", "1")).stdout).toMatch(/first\.txt[\s\S]*\+one\n$/);
    const second = (await p.ralph("diff", "--iteration", "2", "--stat")).stdout;
    expect(second).toMatch(/first\.txt[\s\S]*second\.txt[\s\S]*2 files changed/);
    expect(await p.ralph("diff", "--iteration", "3")).toMatchObject({ code: 2 });
    expect(p.sh("git status --porcelain; git stash list; git for-each-ref | wc -l")).toBe("1\n");
  });

  it("says when it cannot tell", async () => {
    p.sh("rm -rf .git");
    p.agent([{ text: "COMPLETE" }]);
    await p.ralph("loop", "Here", "--check", "true");
    expect(await p.ralph("diff")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("did not work in a git repository"),
    });
  });
});

describe("ralph worktrees and ralph clean --worktrees", () => {
  it("say what has landed, and never remove other work without --force", async () => {
    await finished();
    const [row] = JSON.parse((await p.ralph("worktrees", "--json")).stdout);
    expect(row).toMatchObject({ branch: "ralph/w", state: "done", landed: null, uncommitted: 0 });
    expect((await p.ralph("clean", "--worktrees", "--yes")).all).toMatch(
      /kept: .*not landed.*\nnothing to clean|nothing to clean\n.*kept/,
    );
    expect(await p.ralph("land", "--keep")).toMatchObject({ code: 0 });
    expect((await p.ralph("worktrees")).stdout).toMatch(/ralph\/w +done +\d+ KB +in main\n/);
    expect((await p.ralph("clean", "--worktrees")).stdout).toContain("would remove");
    expect((await p.ralph("clean", "--worktrees", "--older-than", "1d", "--yes")).stdout).toBe(
      "nothing to clean\n",
    );
    expect((await p.ralph("clean", "--worktrees", "--yes")).stdout).toContain("removed");
    expect(p.sh("git worktree list | wc -l; git branch --list 'ralph/*'")).toBe("1\n");
    await finished("echo more > more.txt");
    expect((await p.ralph("clean", "--worktrees", "--force", "--yes")).stdout).toContain("removed");
    expect(p.sh("git worktree list | wc -l; git branch --list 'ralph/*'")).toBe("1\n");
  });

  it("keep the records that it takes to land what is on a branch", async () => {
    await finished();
    p.sh("git worktree remove --force ../project-worktrees/w");
    const old = ["clean", "--runs", "--older-than", "0", "--yes"];
    expect((await p.ralph(...old)).all).toMatch(/kept: the records of \S+ \(ralph land needs them/);
    expect(await p.ralph("land", "--keep")).toMatchObject({ code: 0 });
    expect((await p.ralph(...old)).stdout).toContain("removed the records");
  });

  it("remove records only of runs that are old enough", async () => {
    await finished();
    await p.ralph("land");
    expect((await p.ralph("clean", "--runs", "--yes")).stdout).toBe("nothing to clean\n");
    expect((await p.ralph("clean", "--runs", "--older-than", "0", "--yes")).stdout).toContain(
      "removed the records",
    );
    expect((await p.ralph("runs", "--json")).stdout).toBe("[]\n");
    for (const flags of [["--force"], ["--runs", "--older-than", "soon"], ["docs", "--runs"]])
      expect((await p.ralph("clean", ...flags)).code).toBe(2);
  });

  it("a teardown is run before a worktree goes", async () => {
    await finished();
    p.settings({ agent: { command: "claude" }, teardown: `touch ${p.root}/torn-down` });
    expect(await p.ralph("land")).toMatchObject({ code: 0 });
    expect(existsSync(`${p.root}/torn-down`)).toBe(true);
  });
});
