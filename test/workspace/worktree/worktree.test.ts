import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createWorktree, type Setup } from "../../../src/workspace/worktree/create.js";
import { settleWorktree } from "../../../src/workspace/worktree/leftovers.js";
import { locateWorktree, removeWorktree, takenBy } from "../../../src/workspace/worktree/worktree.js";
import { createProject, isAlive, type Project } from "../../kit.js";

let p: Project;
let told: string[];
let copies: string[];
beforeEach(() => {
  p = createProject();
  told = [];
  for (const [name, value] of Object.entries(p.env)) vi.stubEnv(name, value);
});
afterEach(() => vi.unstubAllEnvs());

const setup = (more: Partial<Setup> = {}): Setup => ({
  command: undefined,
  timeoutMs: 30_000,
  signal: undefined,
  tell: (text) => told.push(text),
  ...more,
});

async function made(name = "one", more: Partial<Setup> = {}, origin = p.dir): Promise<string> {
  const worktree = await locateWorktree(origin, name);
  copies = await createWorktree(origin, worktree, setup(more));
  return worktree.path;
}

/** Everything that a worktree leaves in the world. */
function traces(): unknown {
  return {
    folder: existsSync(`${p.dir}-worktrees`),
    branches: p.sh("git branch --list 'ralph/*'"),
    entries: p.sh("git worktree list").split("\n").length - 1,
  };
}
const NOTHING = { folder: false, branches: "", entries: 1 };

describe("where a worktree is", () => {
  it.each(["../x", "-x", "a b", ".x", "x.lock", "a..b", "", "a\nb", "ä", "x".repeat(101)])(
    "has no name such as %j",
    async (name) => {
      await expect(locateWorktree(p.dir, name)).rejects.toMatchObject({ code: "worktree_name", exitCode: 2 });
    },
  );
});

describe("a new worktree", () => {
  it("leaves nothing behind when git cannot make it, and names a hook that fails without a word", async () => {
    p.sh("printf '#!/bin/sh\\nexit 3\\n' > .git/hooks/post-checkout && chmod +x .git/hooks/post-checkout");
    await expect(made()).rejects.toThrow(
      /^cannot create the worktree: the hook post-checkout ended with exit 3$/,
    );
    expect(traces()).toEqual(NOTHING);
  });

  it("is made where a kill of git has left half of another one", async () => {
    p.sh(
      "git worktree add -q ../half && cd .git/worktrees/half && : > commondir && touch -d '1 minute ago' .",
    );
    expect(existsSync(join(await made(), ".git"))).toBe(true);
  });

  it("does not take away a worktree of somebody else that is locked", async () => {
    p.sh(
      `git worktree add -q -b mine ../project-worktrees/one && git worktree lock ../project-worktrees/one`,
    );
    const before = p.sh("git worktree list --porcelain; git branch --list; ls ../*");
    expect(await takenBy(p.dir, await locateWorktree(p.dir, "one"))).toContain("project-worktrees/one");
    await expect(made()).rejects.toThrow(/cannot create the worktree: .*project-worktrees\/one is taken/);
    expect(p.sh("git worktree list --porcelain; git branch --list; ls ../*")).toBe(before);
  });
});

describe(".worktreeinclude", () => {
  async function copied(patterns: string, ...names: string[]): Promise<string[]> {
    p.write(".worktreeinclude", patterns);
    const path = await made();
    return names.filter((name) => existsSync(join(path, name)));
  }

  it("copies ignored files, folders, and what a pattern does not take back", async () => {
    p.sh("printf '.env*\\ndata\\n' > .gitignore && git add .gitignore && git commit -qm ignore");
    p.sh(
      "mkdir -p data/deep app && touch .env .env.local .env.example app/.env data/deep/x data/y other.log",
    );
    const all = [".env", ".env.local", ".env.example", "app/.env", "data/deep/x", "data/y", "other.log"];
    expect(await copied(".env*\n!.env.example\n# words\n\n/data/\n", ...all)).toEqual(
      all.filter((name) => name !== ".env.example" && name !== "other.log"),
    );
    expect(told).toEqual([]);
  });
});

describe("setup", () => {
  it("runs in the folder of the worktree that ralph was started in, and is told", async () => {
    mkdirSync(join(p.dir, "sub"));
    const path = await made("one", { command: "pwd > where" }, join(p.dir, "sub"));
    expect(readFileSync(join(path, "sub/where"), "utf8")).toBe(`${path}/sub\n`);
    expect(told).toEqual(["setting up the worktree: pwd > where"]);
  });

  it("that fails leaves nothing behind, and shows what it said without secrets", async () => {
    vi.stubEnv("MY_TOKEN", "hush-hush-hush");
    const command = "seq 20 >&2; echo $MY_TOKEN >&2; touch left; exit 3";
    await expect(made("one", { command })).rejects.toMatchObject({
      message: `setup failed in the new worktree (exit 3): ${command}`,
      exitCode: 2,
    });
    expect(traces()).toEqual(NOTHING);
    expect(told.slice(1)).toEqual(["12", "13", "14", "15", "16", "17", "18", "19", "20", "[redacted]"]);
  });

  it("that takes too long leaves nothing behind, and nobody alive", async () => {
    const command = `echo $$ > '${p.root}/pid'; sleep 4714 & sleep 4714`;
    await expect(made("one", { command, timeoutMs: 500 })).rejects.toThrow("(timed out)");
    expect(traces()).toEqual(NOTHING);
    expect(isAlive(Number(readFileSync(join(p.root, "pid"), "utf8")))).toBe(false);
  });
});

describe("what is left in a worktree at the end", () => {
  const settle = (path: string, stop?: AbortSignal) =>
    settleWorktree({ path, origin: p.dir, message: "Work", copied: copies, stop });
  const inTree = (path: string, command: string) => p.sh(`cd '${path}' && { ${command}; }`);
  const committed = () =>
    p.sh("git diff --name-status -z main ralph/one").split("\0").filter(Boolean).join(" ");

  it("is committed: edits, new and deleted files, what was staged, names of every kind", async () => {
    p.sh("echo a > a && echo b > b && git add . && git commit -qm more");
    const path = await made();
    inTree(
      path,
      "echo x >> a && rm b && mkdir d && echo x > 'd/n \"1\"' && echo x > -s && git add -- -s && echo x > :x",
    );
    expect(await settle(path)).toEqual({ found: true });
    expect(committed()).toBe('A -s A :x M a D b A d/n "1"');
    expect(p.sh("git log -1 --format=%s ralph/one")).toBe("Work\n");
    expect(inTree(path, "git status --porcelain")).toBe("");
  });

  it("is not ralph's runtime files, whatever is ignored, but its settings", async () => {
    const path = await made();
    inTree(
      path,
      "mkdir -p .ralph/runs/x sub/.ralph && cd .ralph && touch a.log progress.md runs/x/y ../sub/.ralph/b.log",
    );
    inTree(path, "echo '{}' > .ralph/settings.json && git add -f .ralph/progress.md");
    await settle(path);
    expect(committed()).toBe("A .ralph/settings.json");
  });

  it("is not what was copied in, also if it was changed or staged, but what is new beside it", async () => {
    p.sh(
      "echo ignored > .gitignore && git add .gitignore && git commit -qm i && echo A=1 > .env && touch ignored",
    );
    p.write(".worktreeinclude", ".env*\nignored\n");
    const path = await made();
    inTree(path, "echo A=2 > .env && echo new > .env.new && git add -A");
    expect(await settle(path)).toEqual({ found: true });
    expect(committed()).toBe("A .env.new");
    inTree(path, "echo x > b");
    expect(await settle(path)).toEqual({ found: true });
    expect(committed()).toBe("A .env.new A b");
  });

  it("is committed in spite of a key that nobody unlocks", async () => {
    const path = await made();
    p.sh("git config commit.gpgSign true && git config gpg.program false");
    inTree(path, "printf 'x\\r\\n' > a");
    expect(await settle(path)).toEqual({ found: true });
    expect(committed()).toBe("A a");
  });

  it("is committed where git knows nobody", async () => {
    const path = await made();
    p.sh("git config user.useConfigOnly true");
    for (const name of Object.keys(p.env)) if (name.startsWith("GIT_")) vi.stubEnv(name, undefined);
    inTree(path, "echo x > a");
    expect(await settle(path)).toEqual({ found: true });
    expect(p.sh("git log -1 --format=%an ralph/one")).toBe("ralph\n");
  });

  it.each([
    ["", "true"],
    [" with a commit", "git -C inner add . && git -C inner commit -qm i"],
  ])("is committed but for a repository inside%s, which is told and stays as it is", async (_, command) => {
    const path = await made();
    inTree(path, `git init -q inner && echo x > inner/x && echo x > a && ${command}`);
    expect(await settle(path)).toEqual({
      found: true,
      failure: `work is left uncommitted in ${path}: inner is a repository of its own`,
    });
    expect([committed(), inTree(path, "git status --porcelain")]).toEqual(["A a", "?? inner/\n"]);
  });

  it.each([
    ["is gone", "rm .git"],
    ["leads to the user's checkout", "echo gitdir: $OLDPWD/.git > .git"],
  ])("is committed nowhere when its .git %s, and never into a repository around it", async (_, command) => {
    p.sh("git init -q .. && git -C .. commit -q --allow-empty -m around");
    const path = await made();
    inTree(path, `${command}; echo x > a`);
    const state = () =>
      p.sh(
        "git for-each-ref; cat .git/HEAD; git status --porcelain; git -C .. status --porcelain -uno; git -C .. log",
      );
    const before = state();
    expect(await settle(path)).toEqual({
      found: false,
      failure: `work is left uncommitted in ${path}: its .git is gone, or is not the one that ralph made`,
    });
    expect(state()).toBe(before);
  });

  it("does not move a branch of the user: the one of the checkout", async () => {
    p.sh("git branch develop");
    const path = await made();
    inTree(path, `git checkout -q --ignore-other-worktrees main && echo 1 > a && git add a && echo 2 > b`);
    const heads = () => p.sh("git rev-parse main develop; git status --porcelain");
    const before = heads();
    expect(await settle(path)).toEqual({ found: true });
    expect([heads(), committed()]).toEqual([before, "A a A b"]);
  });

  it.each([
    ["a merge", "git merge side", "a merge is under way, and conflicts are not resolved in f"],
    ["a rebase", "git rebase side", "a rebase is under way, and conflicts are not resolved in f"],
  ])("is not committed in the middle of %s", async (_, command, why) => {
    p.sh("echo 1 > f; git add f; git commit -qm f; git branch side; echo 2 > f; git commit -qam 2");
    p.sh("git switch -q side; echo s > f; git commit -qam s; git switch -q main");
    const path = await made();
    inTree(path, "echo 3 > f; git commit -qam 3; echo x > new; echo w > f");
    inTree(
      path,
      command.startsWith("git stash")
        ? `(${command}) 2>&1 || true`
        : `git checkout -q f; (${command}) 2>&1 || true`,
    );
    const before = p.sh("git rev-parse ralph/one main side");
    expect(await settle(path)).toEqual({
      found: false,
      failure: `work is left uncommitted in ${path}: ${why} (finish or abort it: git status says how)`,
    });
    expect([p.sh("git rev-parse ralph/one main side"), inTree(path, "cat new")]).toEqual([before, "x\n"]);
  });

  it("comes onto the worktree's branch from another branch", async () => {
    const path = await made();
    inTree(path, `git checkout -qb fix && echo 1 > a && git add a && git commit -qm own && echo 2 > b`);
    expect(await settle(path)).toEqual({ found: true });
    expect(committed()).toBe("A a A b");
    expect(await settle(path)).toEqual({ found: false });
  });

  it("tells where the work is when both have some", async () => {
    const path = await made();
    inTree(
      path,
      "echo 1 > a && git add a && git commit -qm one && git checkout -qb fix HEAD~1 && echo 2 > b",
    );
    expect(await settle(path)).toEqual({
      found: true,
      failure: `ralph/one does not hold all of the work: merge commit ${inTree(path, "git rev-parse HEAD").trim()} instead`,
    });
    expect(p.sh("git log -1 --format=%s ralph/one")).toBe("one\n");
  });
});

describe("removeWorktree", () => {
  it("removes what was merged, and refuses what holds work", async () => {
    const path = await made();
    p.sh(`cd '${path}' && echo x > a && git add a && git commit -qm a`);
    expect(await removeWorktree(p.dir, path)).toBe(false);
    p.sh("git merge -q ralph/one");
    p.sh(`echo y > '${path}/b'`);
    expect(await removeWorktree(p.dir, path)).toBe(false);
    p.sh(`cd '${path}' && git checkout -q --detach && git add b && git commit -qm b`);
    expect([await removeWorktree(p.dir, path), existsSync(path)]).toEqual([false, true]);
    p.sh(`git -C '${path}' checkout -q ralph/one`);
    expect([await removeWorktree(p.dir, path), traces()]).toMatchObject([true, { branches: "", entries: 1 }]);
  });
});
