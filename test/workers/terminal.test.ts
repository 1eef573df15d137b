import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { atEnd, eventually, isAlive } from "../kit.js";
import { createWorkers } from "./kit.js";

describe("a command on the terminal of a worker", () => {
  it.each([
    ["is ended with all that it left running", [], false],
    ["leaves it running with --keep-background", ["--keep-background"], true],
  ] as const)("%s", async (_, flags, lives) => {
    const p = createWorkers();
    const left = "setsid bash -c 'echo $$ > left; exec sleep 60' >/dev/null 2>&1 &";
    await p.sh(`${left} until test -s left; do sleep 0.01; done`, "-n", "1", ...flags);
    await p.ended();
    const pid = Number(p.read("left"));
    atEnd(() => lives && process.kill(pid, "SIGKILL"));
    expect(isAlive(pid)).toBe(lives);
  });

  it("fills the window while it runs", async () => {
    const p = createWorkers();
    await p.sh("while :; do stty size < /dev/tty; sleep 0.2; done");
    const size = (): string =>
      p.tmux("display-message", "-p", "-t", "ralph:w", "#{window_height} #{window_width}").trim();
    await eventually(() => p.tmux("capture-pane", "-p", "-t", "ralph:w").includes(`${size()}\n`));
    expect(size()).toBe("48 160");
  });

  it("works in a folder whose name tmux would read", async () => {
    const p = createWorkers();
    const name = "x#(touch pwned) #S;";
    mkdirSync(join(p.dir, name));
    await p.ralph("spawn", "--name", "w", "--cwd", name, ..."--prompt-file PROMPT.md -n 1 -- pwd".split(" "));
    await p.ended();
    expect(p.output()).toContain(`\n${join(p.dir, name)}\n`);
    expect(existsSync(join(p.dir, "pwned"))).toBe(false);
  });

  it.each([
    ["without the end of a line", "printf ALL-DONE; sleep 60"],
    [
      "anywhere on the screen",
      "printf '\\033[2J\\033[5;10Hworking'; sleep 1; printf '\\033[6;10HALL-DONE'; sleep 60",
    ],
  ])("is done when it says so %s", async (_, script) => {
    const p = createWorkers();
    await p.sh(script, "--done-pattern", "ALL-DONE");
    await p.ended();
    expect(p.log()).toMatch(/\[DONE\] done pattern matched, stopping loop\n$/);
    expect(p.state().current_iteration).toBe(1);
  });

  it("keeps secrets out of the records and of the list of processes", async () => {
    const p = createWorkers();
    const secret = "sk-ant-1234567890abcdefghij";
    const { result } = p.start(
      [
        "spawn",
        ..."--name w --prompt-file PROMPT.md -n 1 --".split(" "),
        "bash",
        "-c",
        "echo $ANTHROPIC_API_KEY; ps axww -o args > processes; test -s processes",
      ],
      { env: { ANTHROPIC_API_KEY: secret } },
    );
    await result;
    await p.ended();
    expect(p.output()).toContain("\n[redacted]\n");
    expect(spawnSync("grep", ["-rl", secret, p.ralphHome], { encoding: "utf8" }).stdout).toBe("");
    // As it was seen: what ralph writes is redacted and would prove nothing.
    expect(p.read("processes")).toContain("ralph.js work ");
    expect(p.read("processes")).not.toContain(secret);
  });
});

describe("--prompt-via keys", () => {
  const SHELL = ["env", "PS1=$ ", "bash", "--norc", "--noprofile"];

  it("types the prompt when the shell is ready, and a quiet screen ends the turn without a failure", async () => {
    const p = createWorkers();
    p.write("PROMPT.md", "echo one\necho two");
    await p.spawn(SHELL, ..."--prompt-via keys -n 2 --inactivity-timeout 2".split(" "));
    await p.ended();
    expect(p.output()).toMatch(/\$ echo one\n[\s\S]*\none\n[\s\S]*two\n/);
    expect(p.state()).toMatchObject({ current_iteration: 2, total_failures: 0 });
  });

  it("stops at the done pattern on the screen, and not at the prompt that stands there", async () => {
    const p = createWorkers();
    p.write("PROMPT.md", 'sleep 1; echo "All $((1 + 1)) tasks complete"');
    await p.spawn(SHELL, ..."--prompt-via keys -n 2".split(" "), "--done-pattern", "All .* tasks complete");
    await p.ended();
    expect(p.log()).toContain("[DONE] done pattern matched, stopping loop");
    expect(p.state().current_iteration).toBe(1);
  });
});
