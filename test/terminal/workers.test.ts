import { describe, expect, it } from "vitest";
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
    await terminals[0].shows("no worker or run is called nobody");
  });

  it("need a terminal to be attached to", async () => {
    const p = createWorkers();
    await p.sh("sleep 60");
    const refused = await p.ralph("attach", "w");
    expect([refused.code, refused.stderr]).toEqual([
      2,
      "ralph: error: ralph attach needs a terminal (ralph logs w --follow shows what it prints)\n",
    ]);
  });
});
