import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CheckFinished } from "../../../src/events.js";
import { removeOwnWorktree } from "../../../src/workspace/landing/checkout.js";
import { type LandingRequest, land } from "../../../src/workspace/landing/land.js";
import { landingMessage } from "../../../src/workspace/landing/merge.js";
import { createProject, type Project } from "../../kit.js";
import { everythingOf } from "./kit.js";

let p: Project;
beforeEach(() => {
  p = createProject();
  for (const [name, value] of Object.entries(p.env)) vi.stubEnv(name, value);
  p.sh("printf 'one\\ntwo\\nthree\\nfour\\nfive\\n' > shared.txt && git add -A && git commit -qm base");
});
afterEach(() => vi.unstubAllEnvs());

const commit = (name: string): string => p.sh(`git rev-parse --verify ${name}`).trim();

/** A branch off another one on which a script has worked; nothing of it is in the checkout. */
function branch(name: string, script: string, from = "main"): string {
  const path = join(p.root, `make-${name}`);
  p.sh(`git worktree add -q -b ${name} ${path} ${from}`);
  p.sh(`cd ${path} && ${script}\ncd ${path} && git add -A && git commit -qm "${name} works" --allow-empty`);
  p.sh(`git worktree remove --force ${path}`);
  return commit(name);
}

function checkOf(passed: boolean): CheckFinished {
  return {
    ...{ type: "check.finished", iteration: 0, command: "test", exitCode: passed ? 0 : 1, signal: null },
    ...{ timedOut: false, passed, durationMs: 1, log: "", output: "" },
  };
}

function request(tip: string, more: Partial<LandingRequest> = {}): LandingRequest {
  return {
    repository: p.dir,
    target: "refs/heads/result",
    tip,
    worktree: join(p.root, "queue"),
    message: landingMessage("Add a thing", "run-1"),
    verify: async () => [checkOf(true)],
    ...more,
  };
}

const show = (path: string, at = "result"): string => p.sh(`git show ${at}:${path}`);

describe("a landing", () => {
  it("moves the branch to the commit that was verified twice, and touches nothing else", async () => {
    p.sh("git branch result");
    const tip = branch("story", "echo new > made.txt");
    p.sh("echo mine > shared.txt && echo loose > loose.txt && git stash list");
    const [before, old] = [everythingOf(p), commit("result")];
    const seen: string[] = [];
    const steps: unknown[] = [];
    const result = await land(
      request(tip, {
        verify: async (folder, verified) => {
          seen.push(verified, p.sh(`git -C ${folder} rev-parse HEAD`).trim());
          expect(readFileSync(join(folder, "made.txt"), "utf8")).toBe("new\n");
          return [checkOf(true)];
        },
        started: (intent) => void steps.push(intent),
      }),
    );
    const now = commit("result");
    expect(result).toEqual({ kind: "landed", old, new: now, tip, checks: [checkOf(true)] });
    expect({ seen, steps }).toEqual({
      seen: [now, now, now, now],
      steps: [{ old, new: now, tip }],
    });
    expect(p.sh("git log -1 --format=%P%n%B result")).toBe(
      `${old} ${tip}\nAdd a thing\n\nRalph-Run: run-1\n\n`,
    );
    expect(everythingOf(p)).toEqual(before);
  });

  it("is one commit when the work is squashed", async () => {
    p.sh("git branch result");
    const old = commit("result");
    expect(await land(request(branch("story", "echo new > made.txt"), { squash: true }))).toMatchObject({
      kind: "landed",
    });
    expect(p.sh("git log -1 --format=%P result").trim()).toBe(old);
  });

  it("begins anew when the branch has moved meanwhile, and gives up when it always moves", async () => {
    p.sh("git branch result");
    const tip = branch("story", "echo new > made.txt");
    let moves = 1;
    const verify = async () => {
      if (moves > 0) {
        moves -= 1;
        const tree = p.sh("git rev-parse result^{tree}").trim();
        p.sh(`git update-ref refs/heads/result $(git commit-tree ${tree} -p result -m moved)`);
      }
      return [checkOf(true)];
    };
    const moved = await land(request(tip, { verify }));
    expect(moved).toMatchObject({ kind: "landed", new: commit("result") });
    expect(p.sh("git log --format=%s result")).toContain("moved");
    moves = 1000;
    const other = branch("other", "echo other > other.txt");
    expect(await land(request(other, { verify }))).toMatchObject({ kind: "moved", tries: 5 });
  });

  it.each<[string, boolean[], unknown]>([
    ["red twice", [false, false], { kind: "red", checks: [{ passed: false }] }],
    ["green, then red", [true, false], { kind: "flaky", first: { passed: true }, second: { passed: false } }],
  ])("does not land what is %s", async (_, answers, expected) => {
    p.sh("git branch result");
    const old = commit("result");
    const verify = async () => [checkOf(answers.shift() ?? false)];
    expect(await land(request(branch("story", "echo x > x.txt"), { verify }))).toMatchObject(
      expected as object,
    );
    expect(commit("result")).toBe(old);
  });

  it("gives each pass the files of the commit, whatever a check has left", async () => {
    p.sh("git branch result");
    const found: boolean[] = [];
    const verify = async (folder: string) => {
      found.push(existsSync(join(folder, "left.txt")));
      p.sh(`cd ${folder} && echo x > left.txt && echo broken > shared.txt`);
      return [checkOf(true)];
    };
    expect(await land(request(branch("story", "echo x > x.txt"), { verify }))).toMatchObject({
      kind: "landed",
    });
    expect(found).toEqual([false, false]);
    expect(show("shared.txt")).toContain("one");
  });

  it("says what conflicts, with what both sides did", async () => {
    const first = branch("first", "sed -i s/two/TWO/ shared.txt");
    p.sh(`git branch result ${first}`);
    const tip = branch("second", "sed -i s/two/zwei/ shared.txt");
    const result = await land(request(tip));
    expect(result).toMatchObject({ kind: "conflict", files: ["shared.txt"] });
    expect(result.kind === "conflict" && result.diffs).toMatchObject({
      target: expect.stringContaining("+TWO"),
      tip: expect.stringContaining("+zwei"),
    });
    expect(commit("result")).toBe(first);
  });

  it("leaves a worktree of its own, which can be taken away, and no other", async () => {
    p.sh("git branch result");
    expect(await land(request(branch("story", "echo x > x.txt")))).toMatchObject({ kind: "landed" });
    mkdirSync(join(p.root, "other"));
    expect(await removeOwnWorktree(p.dir, join(p.root, "other"))).toBe(false);
    expect(await removeOwnWorktree(p.dir, join(p.root, "queue"))).toBe(true);
    expect(p.sh("git worktree list").trim().split("\n")).toHaveLength(1);
    p.sh("git branch again main");
    const taken = request(branch("more", "echo y > y.txt"), { worktree: join(p.root, "other") });
    expect(await land(taken)).toMatchObject({ kind: "failed", said: expect.stringContaining("is taken") });
  });
});

describe("nothing that landed disappears", () => {
  /** The lane of `second` has merged what landed, and has resolved the conflict with a script. */
  async function resolved(script: string): Promise<unknown> {
    const base = commit("main");
    const first = branch("first", "sed -i s/two/TWO/ shared.txt");
    p.sh(`git branch result ${first}`);
    branch("second", "sed -i s/two/two!/ shared.txt");
    const tip = branch("merged", `git merge -q ${first}; ${script}`, "second");
    return await land(request(tip, { earlier: [{ name: "US-001", old: base, new: first, tip: first }] }));
  }

  it("refuses a conflict that was resolved by taking a side", async () => {
    expect(await resolved("git checkout -q --ours shared.txt")).toMatchObject({
      kind: "lost",
      lines: [{ name: "US-001", file: "shared.txt", line: "TWO" }],
      gone: [],
    });
    expect(commit("result")).toBe(commit("first"));
  });

  it("refuses work that was rebased onto what landed and took its own side, though its commit is an ordinary one", async () => {
    const [base, first] = [commit("main"), branch("first", "sed -i s/two/TWO/ shared.txt")];
    p.sh(`git branch result ${first}`);
    const tip = branch("rebased", "sed -i s/TWO/two!/ shared.txt", "first");
    const earlier = [{ name: "US-001", old: base, new: first }];
    expect(await land(request(tip, { earlier, since: base }))).toMatchObject({
      kind: "lost",
      lines: [{ name: "US-001", file: "shared.txt", line: "TWO" }],
    });
    expect(await land(request(tip, { earlier, since: first }))).toMatchObject({ kind: "landed" });
  });

  it("lands work that removes a line which landed, because the work is about it", async () => {
    const [base, first] = [commit("main"), branch("first", "echo extra >> shared.txt")];
    p.sh(`git branch result ${first}`);
    const tip = branch("second", "sed -i /extra/d shared.txt", "first");
    const earlier = [{ name: "US-001", old: base, new: first }];
    expect(await land(request(tip, { earlier }))).toMatchObject({ kind: "landed" });
  });

  it("refuses to build on a branch that has lost a landing", async () => {
    const [base, first] = [commit("main"), branch("first", "echo extra >> shared.txt")];
    p.sh("git branch result main");
    const tip = branch("second", "echo x > x.txt");
    const earlier = [{ name: "US-001", old: base, new: first }];
    expect(await land(request(tip, { earlier }))).toMatchObject({
      kind: "lost",
      lines: [],
      gone: ["US-001"],
    });
  });
});

describe("a branch that is checked out", () => {
  const intoMain = (tip: string): LandingRequest => request(tip, { target: "refs/heads/main" });

  it("is brought along with its files, and what is not in the way stays as it is", async () => {
    const tip = branch("story", "echo new > made.txt && sed -i s/two/TWO/ shared.txt");
    p.sh("echo mine > README.md && echo loose > loose.txt && echo staged > staged.txt && git add staged.txt");
    expect(await land(intoMain(tip))).toMatchObject({ kind: "landed", new: commit("main") });
    expect(p.sh("git status --porcelain | sort")).toBe(" M README.md\n?? loose.txt\nA  staged.txt\n");
    expect(p.sh("cat made.txt shared.txt")).toContain("new\none\nTWO");
  });

  it.each<[what: string, files: string[], script: string]>([
    ["a changed file", ["shared.txt"], "echo mine > shared.txt"],
    ["a new file", ["made.txt"], "echo mine > made.txt"],
    ["a file in place of a folder", ["sub/deep.txt"], "echo mine > sub"],
    [
      "a file that git is told not to look at",
      ["shared.txt"],
      "git update-index --assume-unchanged shared.txt && echo mine > shared.txt",
    ],
    [
      "a merge under way",
      [],
      "git branch other && git checkout -q other && echo x > y.txt && git add y.txt && git commit -qm y && git checkout -q main && git merge -q --no-ff --no-commit other",
    ],
    [
      "a rebase of it",
      [],
      "git checkout -q -b aside && echo y > y.txt && git add y.txt && git commit -qm y && git checkout -q main && echo z > y.txt && git add y.txt && git commit -qm z && git rebase -q aside >/dev/null 2>&1; true",
    ],
    ["a new file in a folder that makes room", ["old"], "echo mine > old/mine.txt"],
    ["a lock of the index", [], "touch .git/index.lock"],
  ])("is left alone where there is %s in the way", async (_, files, script) => {
    p.sh("mkdir old && echo old > old/file.txt && git add old && git commit -qm old");
    const tip = branch(
      "story",
      "git rm -rq old && ln -s sub old && echo new > made.txt && sed -i s/two/TWO/ shared.txt && mkdir sub && echo d > sub/deep.txt",
    );
    p.sh(script);
    const before = everythingOf(p);
    const verify = vi.fn();
    const result = await land({ ...intoMain(tip), verify });
    expect(result).toMatchObject({ kind: "in_the_way", checkout: p.dir, files });
    expect(verify).not.toHaveBeenCalled();
    expect(everythingOf(p)).toEqual(before);
  });

  it("is left alone when somebody edits a file while the checks run", async () => {
    const tip = branch("story", "sed -i s/two/TWO/ shared.txt");
    const old = commit("main");
    const verify = async () => {
      p.sh("echo mine > shared.txt");
      return [checkOf(true)];
    };
    expect(await land({ ...intoMain(tip), verify })).toMatchObject({
      kind: "in_the_way",
      files: ["shared.txt"],
    });
    expect([commit("main"), p.sh("cat shared.txt")]).toEqual([old, "mine\n"]);
  });

  it.each([
    // A filter that fails in this checkout alone, after git has written other files.
    [
      "cannot write all of the files",
      `git config filter.own.smudge 'case $PWD in */project) exit 1;; esac; cat' && git config filter.own.clean cat && git config filter.own.required true`,
      "",
    ],
    ["has written all of them and cannot move the branch", ":", "touch .git/refs/heads/main.lock"],
  ])("is put back when git %s", async (_, setting, late) => {
    const tip = branch(
      "story",
      "mkdir -p deep/er && echo a > deep/er/a.txt && sed -i s/two/TWO/ shared.txt && git rm -q README.md && echo '*.own filter=own' > .gitattributes && echo z > z.own",
    );
    p.sh(`${setting}; echo mine > mine.txt; echo staged > staged.txt; git add staged.txt`);
    const before = everythingOf(p);
    let passes = 0;
    const verify = async () => {
      passes += 1;
      if (passes === 2 && late !== "") vi.stubEnv("PATH", withLateMerge(late));
      return [checkOf(true)];
    };
    expect(await land({ ...intoMain(tip), verify })).toMatchObject({ kind: "in_the_way", checkout: p.dir });
    p.sh("rm -f .git/refs/heads/main.lock");
    expect(everythingOf(p)).toEqual(before);
    expect(p.sh("git status --porcelain | sort")).toBe("?? mine.txt\nA  staged.txt\n");
  });
});

/** A PATH on which `git merge` begins after a script. */
function withLateMerge(script: string): string {
  const own = p.sh("command -v git").trim();
  const path = join(p.root, "slow");
  mkdirSync(path);
  writeFileSync(join(path, "git"), `#!/bin/sh\n[ "$1" = merge ] && ${script}\nexec ${own} "$@"\n`, {
    mode: 0o755,
  });
  return `${path}:${process.env["PATH"]}`;
}

describe("any repository", () => {
  it("runs no hook, needs no key and no name", async () => {
    const tip = branch("story", "echo new > made.txt");
    mkdirSync(join(p.dir, ".git/hooks"), { recursive: true });
    for (const hook of [
      "pre-commit",
      "post-checkout",
      "post-merge",
      "pre-merge-commit",
      "commit-msg",
      "reference-transaction",
    ])
      writeFileSync(join(p.dir, ".git/hooks", hook), `#!/bin/sh\ntouch ${p.root}/hook-ran\nexit 1\n`, {
        mode: 0o755,
      });
    p.sh("git config commit.gpgSign true; git config gpg.program false; git config merge.autoStash true");
    p.sh("git config --unset user.name; git config --unset user.email; git config user.useConfigOnly true");
    for (const name of Object.keys(p.env).filter((one) => /^GIT_(AUTHOR|COMMITTER)_/.test(one)))
      vi.stubEnv(name, undefined);
    expect(await land(request(tip, { target: "refs/heads/main" }))).toMatchObject({ kind: "landed" });
    expect(existsSync(join(p.root, "hook-ran"))).toBe(false);
  });

  it.each<[what: string, one: string, other: string, expected: string]>([
    ["renames on both sides", "git mv shared.txt moved.txt", "sed -i s/two/TWO/ shared.txt", "moved.txt"],
    ["a rename of case alone", "git mv shared.txt Shared.txt", "sed -i s/two/TWO/ shared.txt", "Shared.txt"],
  ])("merges %s", async (_, one, other, file) => {
    p.sh(`git branch result ${branch("first", one)}`);
    expect(await land(request(branch("second", other)))).toMatchObject({ kind: "landed" });
    expect(show(file)).toContain("TWO");
  });

  it("lands links and binary files, submodules and work in a sparse checkout", async () => {
    p.sh(
      "git init -q ../inner && cd ../inner && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m inner",
    );
    p.sh("mkdir far && echo far > far/file.txt && git add -A && git commit -qm far");
    p.sh("git -c protocol.file.allow=always submodule add -q ../inner sub && git commit -qm sub");
    const tip = branch(
      "story",
      "ln -s README.md link && printf 'a\\0b' > data.bin && echo more >> far/file.txt",
    );
    p.sh("git sparse-checkout set --no-cone '/*' '!far/'");
    p.sh("cd sub && echo mine > loose.txt");
    expect(existsSync(join(p.dir, "far"))).toBe(false);
    expect(await land(request(tip, { target: "refs/heads/main" }))).toMatchObject({ kind: "landed" });
    expect(p.sh("readlink link; git show main:far/file.txt; git status --porcelain; cat sub/loose.txt")).toBe(
      "README.md\nfar\nmore\n M sub\nmine\n",
    );
    expect(existsSync(join(p.dir, "far"))).toBe(false);
  });
});
