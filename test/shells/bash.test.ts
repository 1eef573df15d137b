import { describe, expect, it } from "vitest";
import { inBash, LOAD } from "./bash.js";
import { INSERTED, insertedFor } from "./terminal.js";

describe("completion in bash", () => {
  it("inserts what is meant, safely quoted", async () => {
    expect((await inBash(LOAD, Object.keys(INSERTED))).lines).toEqual(INSERTED);
  });

  it("is loaded by source as well", async () => {
    const line = "ralph com\t";
    expect((await inBash("source <(ralph completion bash)\n", [line])).lines).toEqual({
      [line]: INSERTED[line],
    });
  });

  it("works without compopt, as in bash 3.2, but for the slash after a folder", async () => {
    const startUp = `set -u\nenable -n compopt\nshopt -s compat32\n${LOAD}`;
    const expected = { ...insertedFor(/ -f|=|com/), "ralph run -f su\t": "ralph run -f sub " };
    expect((await inBash(startUp, Object.keys(expected))).lines).toEqual(expected);
  });

  it("works where : and = do not split words", async () => {
    const startUp = `COMP_WORDBREAKS=\${COMP_WORDBREAKS//[:=]/}\n${LOAD}`;
    const expected = insertedFor(/[:=]/);
    expect((await inBash(startUp, Object.keys(expected))).lines).toEqual(expected);
  });

  it("completes the word at the cursor, not the end of the line", async () => {
    const left = "\x1b[D".repeat(" --json".length);
    const keys = `ralph run --qui --json${left}\t`;
    expect((await inBash(LOAD, [keys])).lines).toEqual({ [keys]: "ralph run --quiet --json" });
  });
});
