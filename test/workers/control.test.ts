import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually, isAlive } from "../kit.js";
import { lanesProject } from "../lanes/kit.js";
import { createWorkers, serverOf, type Workers } from "./kit.js";

/** Each iteration waits for a file `go-N`, so that the test decides when it ends. */
const STEPS =
  "n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n > n; while ! test -f go-$n; do sleep 0.05; done";

async function working(p: Workers, iteration: number): Promise<void> {
  await eventually(() => existsWith(p, "n", 0) && p.read("n").trim() === String(iteration));
}

describe("ralph pause and ralph resume", () => {
  it("let the agent finish, start no other, and go on with the same count", async () => {
    const p = createWorkers();
    await p.sh(STEPS);
    await eventually(() => p.state().current_iteration === 1);
    const paused = await p.ralph("pause", "w");
    expect([paused.code, paused.stdout, paused.stderr]).toEqual([0, "paused ralph loop for w\n", ""]);
    expect(p.state().status).toBe("paused");
    expect(await p.err("pause", "w")).toEqual([0, "ralph: warning: worker 'w' is already paused\n"]);
    p.write("go-1", "");
    await eventually(() => p.log().includes("[PAUSE] after iteration 1"));
    expect(await p.out("status", "w")).toEqual([
      0,
      expect.stringContaining("Status: paused\nIteration: 1/3\n"),
    ]);
    p.write("go-2", "");
    p.write("go-3", "");
    const resumed = await p.ralph("resume", "w");
    expect([resumed.code, resumed.stdout]).toEqual([0, "resumed ralph loop for w\n"]);
    await p.ended();
    expect(p.log()).toContain("[RESUME] after iteration 1\n");
    expect([p.read("n"), p.state().current_iteration]).toEqual(["3\n", 3]);
  });

  it("hold a worker with lanes: it is paused when all of them are, its iterations are those of all, and no time counts", async () => {
    const begin =
      "touch $HOME/$(git branch --show-current | xargs basename); while ! test -f $HOME/go; do sleep 0.05; done";
    const p = lanesProject(["US-001", "US-002"], { work: { "US-001": begin, "US-002": begin } });
    serverOf(p);
    const words = "stories run --no-sandbox --allow-unverified -n 9 --parallel 2".split(" ");
    expect((await p.ralph("spawn", "--name", "w", ...words)).code).toBe(0);
    await eventually(() => ["US-001", "US-002"].every((lane) => existsSync(join(p.home, lane))));
    expect((await p.ralph("pause", "w")).code).toBe(0);
    writeFileSync(join(p.home, "go"), "");
    const home = p.env["RALPH_HOME"] as string;
    const [run = ""] = readdirSync(join(home, "runs"));
    const ofRun = () =>
      readFileSync(join(home, "runs", run, "journal.ndjson"), "utf8")
        .split("\n")
        .filter((line) => /"type":"run\.(paused|resumed)"/.test(line) && !line.includes('"lane"'))
        .map((line) => JSON.parse(line));
    await eventually(() => ofRun().length > 0);
    const state = () => JSON.parse(readFileSync(join(home, "workers/w/state.json"), "utf8"));
    expect(state()).toMatchObject({ status: "paused", current_iteration: 2 });
    expect((await p.ralph("ls")).stdout).toMatch(/^w +paused +2\/9 /m);
    expect((await p.ralph("resume", "w")).code).toBe(0);
    expect((await p.ralph("wait", "w")).code).toBe(0);
    expect(state()).toMatchObject({ status: "stopped", reason: "completed", current_iteration: 4 });
    const [paused, resumed, ...more] = ofRun();
    expect([paused?.type, resumed?.type, more]).toEqual(["run.paused", "run.resumed", []]);
    expect(resumed).toHaveProperty("activeMs", paused.activeMs);
  });

  it("warn of a worker that is not paused, and refuse one that is not there", async () => {
    const p = createWorkers();
    await p.sh("sleep 60");
    const running = await p.ralph("resume", "w");
    expect([running.code, running.stderr]).toEqual([0, "ralph: warning: worker 'w' is not paused\n"]);
    expect(await p.err("resume", "w", "--max-cost", "1")).toEqual([
      2,
      "ralph: error: --max-cost cannot change while the loop of 'w' runs (ralph kill w ends it, and ralph resume w --max-cost=1 continues it)\n",
    ]);
    await p.ralph("kill", "w");
    const pause = await p.ralph("pause", "w");
    expect([pause.code, pause.stderr]).toEqual([
      1,
      expect.stringContaining("worker 'w' is not running (stopped)"),
    ]);
    const nobody = await p.ralph("pause", "nobody");
    expect([nobody.code, nobody.stderr]).toEqual([
      2,
      expect.stringContaining("no worker or run is called nobody"),
    ]);
  });

  it("go on after SIGTERM, which lets the agent finish", async () => {
    const p = createWorkers();
    await p.sh(STEPS);
    await working(p, 1);
    const [loop = 0] = p.loops();
    process.kill(loop, "SIGTERM");
    await eventually(() => p.state().status === "paused");
    expect(isAlive(loop)).toBe(true);
    p.write("go-1", "");
    await eventually(() => !isAlive(loop));
    expect(p.log()).toContain("[END] iteration 1 exit=0");
    expect(p.state()).toMatchObject({ status: "paused", current_iteration: 1 });
    for (const step of ["go-2", "go-3"]) p.write(step, "");
    expect((await p.ralph("resume", "w")).stdout).toBe("resumed ralph loop for w\n");
    await p.ended();
    expect(p.read("n")).toBe("3\n");
  });

  it.each(["the loop is killed", "the server of tmux is killed"])("go on after %s", async (how) => {
    const p = createWorkers();
    await p.sh(STEPS, "--env", "KEPT=yes");
    p.write("go-1", "");
    await working(p, 2);
    const [loop = 0] = p.loops();
    if (how === "the loop is killed") process.kill(loop, "SIGKILL");
    else p.tmux("kill-server");
    await eventually(() => !isAlive(loop));
    const status = await p.ralph("status", "w");
    expect([status.code, status.stdout]).toEqual([
      1,
      expect.stringMatching(/Status: crashed\n[\s\S]*ralph resume w/),
    ]);
    expect((await p.ralph("ls", "--status", "crashed", "--format", "names")).stdout).toBe("w\n");
    for (const step of ["go-3", "go-4"]) p.write(step, "");
    expect((await p.ralph("resume", "w")).stdout).toBe("resumed ralph loop for w\n");
    await p.ended();
    // The iteration that was cut off was run again, and nothing of its first try is left.
    expect([p.read("n"), p.state().current_iteration]).toEqual(["4\n", 3]);
    expect(p.log().match(/\[START\] iteration \d/g)).toEqual(
      [1, 2, 2, 3].map((n) => `[START] iteration ${n}`),
    );
  });

  it("believe no pid of a machine that was started anew", async () => {
    const p = createWorkers();
    await p.sh("sleep 60");
    const [loop = 0] = p.loops();
    const lock = join(
      p.ralphHome,
      "locks",
      `run-${JSON.parse(readFileSync(p.file("worker.json", "w"), "utf8")).run}.json`,
    );
    const holder = JSON.parse(readFileSync(lock, "utf8"));
    process.kill(loop, "SIGKILL");
    // The same pid belongs to somebody else now.
    writeFileSync(lock, JSON.stringify({ ...holder, pid: process.pid }));
    expect((await p.ralph("status", "w")).stdout).toContain("Status: crashed\n");
    expect((await p.ralph("resume", "w")).code).toBe(0);
    expect(p.state().status).toBe("running");
  });
});

describe("ralph kill", () => {
  it("leaves no process of an agent that minds no signal and has left its group", async () => {
    const p = createWorkers();
    const stubborn = "trap '' TERM HUP INT; echo $$ >> pids; while :; do sleep 0.2; done";
    p.program(
      "stubborn",
      `#!/bin/bash\nsetsid bash -c "${stubborn.replaceAll("$", "\\$")}" &\n${stubborn}\n`,
    );
    await p.spawn(["stubborn"]);
    await eventually(() => existsWith(p, "pids", 2));
    const pids = [...p.read("pids").trim().split("\n").map(Number), ...p.loops()];
    const killed = await p.ralph("kill", "w");
    expect([killed.code, killed.stdout]).toEqual([0, "killed w\n"]);
    expect(pids.filter(isAlive)).toEqual([]);
    expect([p.state().status, p.tmux("list-panes", "-a")]).toEqual(["stopped", ""]);
    expect((await p.ralph("status", "w")).code).toBe(1);
    expect(await p.err("kill", "w")).toEqual([0, "ralph: warning: worker 'w' is not running\n"]);
  });

  it("does not touch the next worker of the same name", async () => {
    const p = createWorkers();
    p.program("slow-to-go", "#!/bin/bash\ntrap '' TERM HUP\necho here\nwhile :; do sleep 0.2; done\n");
    await p.spawn(["slow-to-go"]);
    await eventually(() => p.output().includes("here"));
    const killed = p.ralph("kill", "w");
    const early = await p.sh("sleep 60");
    expect([early.code, early.stderr]).toEqual([1, expect.stringContaining("worker 'w' already exists (")]);
    expect((await killed).stdout).toBe("killed w\n");
    expect((await p.sh("sleep 60")).code).toBe(0);
    expect((await p.ralph("status", "w")).stdout).toContain("Status: running");
  });

  it("keeps a worktree unless it is asked and nothing in it is uncommitted", async () => {
    const p = createWorkers();
    const wait = "while :; do sleep 0.1; done";
    await p.sh(`touch new; ${wait}`, "--worktree");
    await eventually(() => existsWith(p, "../project-worktrees/w/new", 0));
    const kept = await p.ralph("kill", "w", "--rm-worktree");
    expect(kept.stderr).toBe(
      `ralph: warning: kept the worktree ${p.dir}-worktrees/w: it holds uncommitted changes\n`,
    );
    expect(existsWith(p, "../project-worktrees/w/new", 0)).toBe(true);
    await p.ralph("spawn", ..."--name v --prompt-file PROMPT.md -n 1 --worktree -- sleep 60".split(" "));
    const removed = await p.ralph("kill", "v", "--rm-worktree");
    expect(removed.stdout).toBe(`killed v\nremoved the worktree ${p.dir}-worktrees/v and its branch\n`);
    expect(existsWith(p, "../project-worktrees/v", 0)).toBe(false);
  });
});

describe("ralph interrupt, send, wait and clean", () => {
  it("end the agent at work and let the loop go on", async () => {
    const p = createWorkers();
    await p.sh("test -f second && exit 0; touch second; sleep 60", "-n", "2");
    await eventually(() => existsWith(p, "second", 0));
    expect((await p.ralph("interrupt", "w")).stdout).toBe("interrupted the agent of w; its loop continues\n");
    await p.ended();
    expect(p.log()).toMatch(/iteration 1 exit=130[\s\S]*iteration 2 exit=0/);
  });

  it("type into the terminal of the agent", async () => {
    const p = createWorkers();
    await p.sh('read -r line < /dev/tty; echo "heard: $line"', "-n", "1");
    await eventually(() => p.tmux("list-panes", "-a", "-F", "#{@ralph_worker}") === "w\nw\n");
    const sent = await p.ralph("send", "w", "hello $HOME; there");
    expect([sent.stdout, sent.stderr]).toEqual(["sent to w\n", ""]);
    await p.ended();
    expect(p.output()).toContain("heard: hello $HOME; there\n");
  });

  it("wait no longer than told, and forget only what has ended", async () => {
    const p = createWorkers();
    await p.sh("sleep 60");
    expect(await p.err("wait", "w", "--timeout", "0.2")).toEqual([
      124,
      "ralph: warning: w has not ended within 0.2 s\n",
    ]);
    const running = await p.ralph("clean", "w");
    expect([running.code, running.stderr]).toEqual([
      1,
      "ralph: error: worker 'w' has not ended (running) (ralph kill w ends it)\n",
    ]);
    expect((await p.ralph("clean")).stdout).toBe("nothing to clean\n");
    await p.ralph("kill", "w");
    expect((await p.ralph("clean")).stdout).toBe("cleaned w\n");
    // Its run keeps the name.
    expect(await p.out("status", "w")).toEqual([1, expect.stringMatching(/^Ralph Loop: w\nRun: \d{8}-/)]);
    expect((await p.ralph("status", "nobody")).code).toBe(2);
  });
});

function existsWith(p: Workers, file: string, lines: number): boolean {
  try {
    return p.read(file).split("\n").length > lines;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EISDIR";
  }
}
