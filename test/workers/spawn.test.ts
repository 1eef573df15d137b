import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../kit.js";
import { createWorkers } from "./kit.js";

const AT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/);

describe("ralph spawn", () => {
  it("runs a known agent as often as it was told, with what the file says", async () => {
    const p = createWorkers();
    p.agent([{ text: "one", bash: "echo 'do task B' > PROMPT.md" }, { text: "two" }]);
    const spawned = await p.spawn(["claude"], ..."--ralph -n 2 --no-done-instruction".split(" "));
    expect(spawned.stdout).toBe("spawned w (tmux: ralph:w) [ralph mode: iteration 1/2]\n");
    expect(spawned.code).toBe(0);
    await p.ended();
    expect([p.prompt(1), p.prompt(2), p.calls()]).toEqual(["do the thing", "do task B\n", 2]);
    expect(p.state()).toEqual({
      worker_name: "w",
      prompt_file: join(p.dir, "PROMPT.md"),
      max_iterations: 2,
      current_iteration: 2,
      status: "stopped",
      started: AT,
      last_iteration_started: AT,
      consecutive_failures: 0,
      total_failures: 0,
      done_pattern: null,
      inactivity_timeout: 900,
      reason: "max_iterations",
      result: "stopped: iterations",
    });
    expect(p.log().replace(/^\S+ /gm, "").replace(/\d+s$/gm, "Ns")).toBe(
      [
        "[START] iteration 1/2",
        "[END] iteration 1 exit=0 duration=Ns",
        "[START] iteration 2/2",
        "[END] iteration 2 exit=0 duration=Ns",
        "[COMPLETE] loop complete after 2 iterations",
        "",
      ].join("\n"),
    );
    expect(p.output()).toMatch(
      /\[ralph\] w: starting iteration 1\/2\n[\s\S]*one[\s\S]*completed \(exit: 0, duration: \d+s\)/,
    );
    expect((await p.ralph("wait", "w")).code).toBe(0);
  });

  it("hands its stdin to the loop of the worker", async () => {
    const p = createWorkers();
    p.agent([{ text: "<response>DONE</response>" }]);
    const bin = join(import.meta.dirname, "../../bin/ralph.js");
    const words = ["spawn", "--name", "w", "run", "-", "--agent", "claude"];
    execFileSync(process.execPath, [bin, ...words], {
      ...{ cwd: p.dir, env: p.env, input: "fix the port", stdio: ["pipe", "pipe", "pipe"] },
    });
    await p.ended();
    expect(p.prompt(1)).toContain("fix the port");
  });

  it.each<[string, number, string]>([
    ["--max-iterations 2 -- claude", 1, "--prompt-file is required"],
    ["--prompt-file PROMPT.md -- claude", 1, "--max-iterations is required"],
    ["--prompt-file ./missing.md -n 2 -- claude", 1, "prompt file not found: ./missing.md"],
    ["--prompt-file . -n 2 -- claude", 1, "cannot read prompt file: . (it is a directory)"],
    ["--prompt-file PROMPT.md -n 2 -- no-such-agent", 2, "agent not found: no-such-agent"],
    ["--prompt-file PROMPT.md -n 2 --done-pattern ( -- claude", 2, "--done-pattern (:"],
    ["--prompt-file PROMPT.md -n 2 --env A-B=1 -- claude", 2, "--env A-B: expected NAME=VALUE"],
    ["--prompt-file PROMPT.md -n 2 --cwd nowhere -- claude", 2, "--cwd nowhere:"],
    ["--prompt-file PROMPT.md -n 2 --session a.b -- claude", 2, '--session "a.b": expected'],
    ["loop task", 2, "no check was given"],
    [
      "lop task",
      2,
      "lop is not a loop (did you mean loop? Loops are run, loop, race, stories run, pipeline run; a command goes after --)",
    ],
    ["--max-cost 2 loop task --check true", 2, "--max-cost stands before loop"],
  ])("refuses %s and leaves nothing behind", async (args, code, message) => {
    const p = createWorkers();
    p.agent([{ text: "a" }]);
    const refused = await p.ralph("spawn", "--name", "w", ...args.split(" "));
    expect(refused.stderr).toContain(`ralph: error: ${message}`);
    expect([refused.code, refused.stdout]).toEqual([code, ""]);
    expect([p.exists(), p.tmux("list-panes", "-a"), p.calls()]).toEqual([false, "", 0]);
  });

  it.each(["a/b", "a b", "../x", "-a", "", "a:b", "ä", "x".repeat(65)])(
    "does not take %j for a name",
    async (name) => {
      const p = createWorkers({ git: false });
      const flags = "--prompt-file PROMPT.md -n 1 -- true".split(" ");
      const refused = await p.ralph("spawn", `--name=${name}`, ...flags);
      expect([refused.code, refused.stderr]).toEqual([
        2,
        `ralph: error: --name ${JSON.stringify(name)} is not a valid name (letters, digits, - and _, at most 64, the first one a letter or a digit)\n`,
      ]);
    },
  );

  it("gives a name once, says what to do, and again when its worker has ended", async () => {
    const p = createWorkers();
    await p.sh("sleep 60");
    const twice = await p.sh("true");
    expect(twice.stderr).toBe(
      "ralph: error: worker 'w' already exists (running) (ralph attach w shows it, ralph kill w ends it; or choose another --name)\n",
    );
    expect(twice.code).toBe(1);
    await p.ralph("kill", "w");
    const failed = await p.spawn(["no-such-agent"]);
    expect([failed.code, p.state().status]).toEqual([2, "stopped"]);
    expect((await p.sh("true")).code).toBe(0);
    await p.ended();
    expect(p.log()).not.toContain("killed");
  });

  it("says how to get tmux where it is missing", async () => {
    const p = createWorkers();
    const args = "spawn --name w2 --prompt-file PROMPT.md -n 1 -- true".split(" ");
    const { stderr, code } = await p.start(args, { env: { PATH: p.bin } }).result;
    expect(stderr).toBe(
      "ralph: error: tmux is not installed, and workers need it (apt install tmux, dnf install tmux, or brew install tmux)\n",
    );
    expect([code, p.exists("w2")]).toEqual([2, false]);
  });

  it("hands over the folder, the variables and the whole environment, and none of tmux", async () => {
    const p = createWorkers();
    p.write("sub/file", "");
    const { result } = p.start(
      [
        ..."spawn --name w --cwd sub --prompt-file PROMPT.md -n 1 --env A=1=2 --env EMPTY= --tag x --tag y --".split(
          " ",
        ),
        ...["bash", "-c", "pwd; env; cat; exit 7"],
      ],
      { env: { FROM_OUTSIDE: 'it\'s "here" $HOME\nand there', TMUX: "/elsewhere,1,2" } },
    );
    await result;
    await eventually(() => p.log().includes("exit=7"));
    const said = p.output();
    for (const text of [
      `${p.dir}/sub\n`,
      "\nA=1=2\n",
      "\nEMPTY=\n",
      'it\'s "here" $HOME\nand there',
      "\ndo the thing\n",
    ])
      expect(said).toContain(text);
    expect(said).not.toMatch(/^TMUX/m);
    const record = JSON.parse(readFileSync(p.file("worker.json", "w"), "utf8"));
    expect([record.tags, record.env]).toEqual([["x", "y"], { A: "1=2", EMPTY: "" }]);
  });

  it("starts any recipe as a worker", async () => {
    const p = createWorkers();
    p.agent([{ bash: "touch ok", text: "COMPLETE" }]);
    const args = ["--name", "auth", "--worktree", "loop", "make ok", "--check", "test -f ok"];
    const spawned = await p.ralph("spawn", ...args);
    expect(spawned.stdout).toBe("spawned auth (tmux: ralph:auth) [ralph mode: iteration 1/25]\n");
    await p.ended("auth");
    expect(existsSync(`${p.dir}-worktrees/auth/ok`)).toBe(true);
    expect((await p.ralph("wait", "auth")).code).toBe(0);
    expect(p.log("auth")).toContain("[COMPLETE] loop complete after 1 iterations");
    const [run] = JSON.parse((await p.ralph("runs", "--json")).stdout);
    expect({ name: run.name, recipe: run.recipe }).toEqual({ name: "auth", recipe: "checks" });
  });

  it("takes away a worktree that could not be made ready", async () => {
    const p = createWorkers();
    p.agent([{ text: "a" }]);
    p.settings({ setup: "echo no; exit 3" });
    const failed = await p.spawn(["claude"], "--worktree");
    expect([failed.code, p.exists(), existsSync(`${p.dir}-worktrees/w`)]).toEqual([2, false, false]);
    expect(p.tmux("list-panes", "-a")).toBe("");
  });

  it("uses the server and the session that it is given", async () => {
    const p = createWorkers();
    p.tmux("new-session", "-d", "-s", "mine", "-n", "theirs", "sleep 60");
    const spawned = await p.sh("sleep 60", "--session", "mine", "--tmux-socket", p.socket);
    expect(spawned.stdout).toContain("(tmux: mine:w)");
    expect(p.tmux("list-windows", "-t", "mine", "-F", "#{window_name}").split("\n")).toContain("w");
    await p.ralph("kill", "w");
    expect(p.tmux("list-windows", "-t", "mine", "-F", "#{window_name}")).toBe("theirs\n");
  });

  it("lets several workers be spawned at once, in one folder, and gives a name to one of two who want it", async () => {
    const p = createWorkers();
    const names = ["w0", "w1", "w2", "w3", "w0"];
    const spawned = await Promise.all(
      names.map((name) =>
        p.ralph("spawn", "--name", name, ..."--prompt-file PROMPT.md -n 1 -- sleep 60".split(" ")),
      ),
    );
    expect(spawned.map(({ code }) => code).sort()).toEqual([0, 0, 0, 0, 1]);
    expect((await p.ralph("ls", "--format", "names")).stdout.split("\n").filter(Boolean).sort()).toEqual(
      names.slice(0, 4),
    );
    // A pane for each loop, and one for the command of each, which comes a moment later.
    await eventually(() => p.tmux("list-panes", "-a").trim().split("\n").length === 8);
  });

  it("ends the window when ralph spawn is interrupted before it is ready", async () => {
    const p = createWorkers();
    p.agent([{ text: "a" }]);
    p.settings({ setup: "touch began; sleep 60" });
    const started = p.start("spawn --name w --prompt-file PROMPT.md -n 1 --worktree -- claude".split(" "));
    await eventually(() => existsSync(`${p.dir}-worktrees/w/began`));
    started.child.kill("SIGINT");
    await started.result;
    await eventually(
      () => !existsSync(`${p.dir}-worktrees/w`) && p.tmux("list-panes", "-a") === "" && !p.exists(),
    );
  });
});
