import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { LoopEvent } from "../../src/events.js";
import { atEnd, claudeProject, eventually, isAlive, type Project, type Step } from "../kit.js";

const DONE: Step = { text: "<response>DONE</response>" };
/** Someone else ends what an agent leaves behind, unless it is kept. */
const KEEP = ["--keep-background"];
const RUN = ["run", "-p", "a", "--json", "--stuck-after", "0"];

describe("a workspace that is moved away", () => {
  const away = `mv "$PWD" ../away`;
  it.each([
    ["run", ["run", "-p", "a", "--check", "true"], away],
    ["loop in a worktree", ["loop", "a", "--check", "true", "--worktree", "one"], away],
    ["run with protected files", ["run", "-p", "a", "--check", "true"], `rm README.md; ${away}`],
    ["run, with another folder in its place", ["run", "-p", "a"], `${away}; mkdir "$PWD"`],
  ])("ends a %s as an error, and is not made again", async (_, command, bash) => {
    const p = claudeProject(
      { bash: "true", text: "x" },
      { bash, text: "<response>DONE</response>\n\nCOMPLETE" },
    );
    p.settings({ agent: { command: "claude" }, protect: ["README.md"] });
    p.sh("git add -A && git commit -qm settings");
    const { code, finished } = await p.ralph(...command, "--json");
    const place = command.includes("--worktree") ? join(p.root, "project-worktrees", "one") : p.dir;
    expect({ code, finished, calls: p.calls() }).toMatchObject({
      code: 1,
      finished: { success: false, reason: "error", filesChanged: null },
      calls: 2,
    });
    expect(finished.message).toContain(`the workspace ${place} is`);
    expect(existsSync(place) ? readdirSync(place) : []).toEqual([]);
    expect(readdirSync(join(p.runFolder(), "iterations"))).toEqual(["001", "002"]);
  });

  it("is noticed before a success is told, and goes on when it is back", async () => {
    const p = claudeProject(DONE);
    const flags = ["--check", `test -e ../away || mv "$PWD" ../away`];
    const { code, finished } = await p.ralph(...RUN, ...flags);
    expect({ code, reason: finished.reason }).toEqual({ code: 1, reason: "error" });
    renameSync(join(p.root, "away"), p.dir);
    mkdirSync(join(p.root, "away"));
    const again = await p.ralph("resume", "--json");
    expect({ code: again.code, reason: again.finished.reason }).toEqual({ code: 0, reason: "completed" });
  });
});

describe("records that are deleted while a run goes on", () => {
  it.each([
    ["home", (p: Project) => join(p.home, ".ralph")],
    ["journal", (p: Project) => join(p.runFolder(), "journal.ndjson")],
  ])("end it as an error (%s)", async (_, what) => {
    const p = claudeProject({
      bash: "touch ../at-work; while test -e ../at-work; do sleep 0.02; done",
      ...DONE,
    });
    const run = p.start(RUN);
    await eventually(() => existsSync(join(p.root, "at-work")));
    const gone = what(p);
    rmSync(gone, { recursive: true });
    rmSync(join(p.root, "at-work"));
    const { code, finished, stderr } = await run.result;
    expect({ code, finished, calls: p.calls() }).toMatchObject({
      code: 1,
      finished: { success: false, reason: "error" },
      calls: 1,
    });
    expect(finished.message).toMatch(/^the records of the run are gone: .*journal\.ndjson/);
    expect(stderr).not.toContain("    at ");
    expect(existsSync(gone)).toBe(false);
  });
});

/** Leaves a process behind that has left its group and its parent, and tells its pid. */
const SERVER = "setsid sleep 300 < /dev/null > /dev/null 2>&1 & echo $! > ../server";
const WAIT = 'touch "$HOME/../at-work"; sleep 300';
const server = (p: Project): number => Number(readFileSync(join(p.root, "server"), "utf8"));
const atWork = (p: Project): Promise<void> => eventually(() => existsSync(join(p.root, "at-work")));

function serverOf(p: Project): number {
  const pid = server(p);
  atEnd(() => isAlive(pid) && process.kill(pid, "SIGKILL"));
  return pid;
}

describe("what an agent left running", () => {
  it("is left alone also when a later call was cut off, which is ended", async () => {
    const p = claudeProject({ bash: SERVER, text: "x" }, { bash: `echo $$ > ../agent; ${WAIT}` }, DONE);
    const run = p.start([...RUN, ...KEEP]);
    await atWork(p);
    run.child.kill("SIGKILL");
    await run.result;
    const [pid, agent] = [serverOf(p), Number(readFileSync(join(p.root, "agent"), "utf8"))];
    expect([isAlive(pid), isAlive(agent)]).toEqual([true, true]);
    expect((await p.ralph("resume", "--json")).code).toBe(0);
    expect([isAlive(pid), isAlive(agent)]).toEqual([true, false]);
  });
});

describe("locks of git that a call leaves behind", () => {
  const COMMIT = { text: "x", bash: "echo x >> work && git add -A && git commit -qm work" };
  const LOCKS = ["index.lock", "HEAD.lock", "packed-refs.lock", "refs/heads/main.lock"];
  const lock = LOCKS.map((name) => `touch .git/${name}`).join("; ");
  const removed = (events: LoopEvent[]): string[] =>
    events.flatMap((event) => (event.type === "locks.removed" ? event.files : []));

  it.each([
    ["the iteration timeout", ["--iteration-timeout", "1s"]],
    ["silence", ["--inactivity-timeout", "1"]],
  ])("are removed when %s ended it, and told", async (_, flags) => {
    const p = claudeProject({ bash: `${lock}; ${WAIT}` }, { ...COMMIT, ...DONE });
    const { code, events } = await p.ralph(...RUN, ...flags);
    expect({ code, calls: p.calls() }).toEqual({ code: 0, calls: 2 });
    expect(removed(events).sort()).toEqual(LOCKS.map((name) => join(p.dir, ".git", name)).sort());
    expect(p.sh("git log --format=%s -1")).toBe("work\n");
  });

  it("are removed from a worktree and its repository when ralph was killed, by the next ralph", async () => {
    const own = `touch $(git rev-parse --git-path index.lock) $(git rev-parse --git-path refs/heads/ralph/one.lock)`;
    const p = claudeProject({ bash: `${own}; ${WAIT}` }, { ...COMMIT, text: "COMPLETE" });
    const run = p.start(["loop", "a", "--check", "test -f work", "--worktree", "one", "--json"]);
    await atWork(p);
    run.child.kill("SIGKILL");
    await run.result;
    const { code, events } = await p.ralph("resume", "--json");
    expect(code).toBe(0);
    expect(removed(events).sort()).toEqual([
      join(p.dir, ".git/refs/heads/ralph/one.lock"),
      join(p.dir, ".git/worktrees/one/index.lock"),
    ]);
  });

  it("are left alone where they were there before, or a process has them open", async () => {
    const held = `exec 9> .git/HEAD.lock; ${SERVER}; exec 9>&-`;
    const p = claudeProject({ bash: `touch .git/refs/heads/x.lock; ${held}`, ...DONE });
    p.write(".git/index.lock", "");
    // The clock of files may be a moment behind.
    await eventually(() => Date.now() - statSync(join(p.dir, ".git/index.lock")).ctimeMs > 100);
    const { code, events } = await p.ralph(...RUN, ...KEEP);
    serverOf(p);
    expect({ code, removed: removed(events) }).toEqual({
      code: 0,
      removed: [join(p.dir, ".git/refs/heads/x.lock")],
    });
    const left = readdirSync(join(p.dir, ".git")).filter((name) => name.endsWith(".lock"));
    expect(left).toEqual(["HEAD.lock", "index.lock"]);
  });

  it("are left alone while the user's own git is at work", async () => {
    const p = claudeProject({
      bash: "touch ../at-work; until test -e .git/index.lock; do sleep 0.02; done",
      ...DONE,
    });
    p.program("edit", `#!/bin/sh\nuntil test -e '${p.root}/edited'; do sleep 0.02; done\necho mine > "$1"\n`);
    const run = p.start(RUN);
    await atWork(p);
    const user = spawn("git", ["-c", "core.editor=edit", "commit", "-qa", "--allow-empty"], {
      cwd: p.dir,
      env: p.env,
    });
    const committed = new Promise((resolve) => user.once("exit", resolve));
    const { code, events } = await run.result;
    expect({ code, removed: removed(events), isHeld: existsSync(join(p.dir, ".git/index.lock")) }).toEqual({
      code: 0,
      removed: [],
      isHeld: true,
    });
    writeFileSync(join(p.root, "edited"), "");
    expect([await committed, p.sh("git log --format=%s -1")]).toEqual([0, "mine\n"]);
  });
});
