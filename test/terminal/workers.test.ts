import { describe, expect, it } from "vitest";
import { eventually } from "../kit.js";
import { createWorkers } from "../workers/kit.js";
import { openTerminal } from "./tmux.js";

describe("workers in a terminal", () => {
  it("are attached to and left with Ctrl+B D, each terminal with its own", async () => {
    const p = createWorkers();
    for (const name of ["one", "two"])
      await p.ralph(
        "spawn",
        "--name",
        name,
        "--prompt-file",
        "PROMPT.md",
        "-n",
        "1",
        "--",
        "bash",
        "-c",
        `echo I am ${name}; sleep 60`,
      );
    const terminals = [await openTerminal(p), await openTerminal(p)] as const;
    terminals[0].type("ralph attach one\n");
    terminals[1].type("ralph attach two\n");
    await terminals[0].shows("I am one");
    await terminals[1].shows("I am two");
    expect(terminals[0].screen()).not.toContain("I am two");
    terminals[0].press("C-b", "d");
    await terminals[0].shows("[detached");
    expect((await p.ralph("ls", "--status", "running", "--format", "names")).stdout).toBe("one\ntwo\n");
    terminals[0].type("ralph attach nobody\n");
    await terminals[0].shows("no worker is called nobody");
  });

  it("are watched, paused, resumed and killed by keys", async () => {
    const p = createWorkers();
    await p.sh("while :; do date +%N; sleep 0.3; done");
    const terminal = await openTerminal(p, 100, 24);
    terminal.type("ralph watch\n");
    await terminal.shows(/w +running +1\/3/);
    terminal.press("p");
    await terminal.shows("paused ralph loop for w");
    await terminal.shows(/w +paused/);
    terminal.press("r");
    await terminal.shows("resumed ralph loop for w");
    terminal.press("l");
    await terminal.shows("starting iteration 1/3");
    terminal.press("C-c");
    await terminal.shows(/w +running/);
    terminal.press("K");
    await terminal.shows("Kill w?");
    terminal.press("y");
    await terminal.shows(/w +stopped/);
    terminal.press("q");
    await eventually(() => terminal.screen().trimEnd().endsWith("$"));
    expect(p.state().status).toBe("stopped");
  });

  it("need a terminal to be attached to", async () => {
    const p = createWorkers();
    await p.sh("sleep 60");
    const refused = await p.ralph("attach", "w");
    expect([refused.code, refused.stderr]).toEqual([
      2,
      "ralph: error: attach needs a terminal (ralph logs w --follow shows what it prints)\n",
    ]);
  });
});
