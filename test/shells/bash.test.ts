import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { INSERTED, projectToComplete, type Typed, typed } from "./terminal.js";

const START_UP = `
PS1='ready> '
bind -x '"\\C-t": printf "<<%s>>" "$READLINE_LINE"'
bind 'set enable-bracketed-paste off'
`;
const LOAD = 'eval "$(ralph completion bash)"\n';

async function inBash(startUp: string, keys: string[]): Promise<Typed> {
  const p = projectToComplete();
  p.write("../home/house.md", "");
  const file = p.write("../start-up", START_UP + startUp);
  return typed(p, `bash --noprofile --rcfile '${file}' -i`, keys);
}

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

  it.runIf(existsSync("/usr/share/bash-completion/bash_completion"))(
    "is the same beside the bash-completion package",
    async () => {
      const startUp = `source /usr/share/bash-completion/bash_completion\n${LOAD}`;
      expect((await inBash(startUp, Object.keys(INSERTED))).lines).toEqual(INSERTED);
    },
  );

  it("works without compopt, as in bash 3.2, but for the slash after a folder", async () => {
    const startUp = `set -u\nenable -n compopt\nshopt -s compat32\n${LOAD}`;
    expect((await inBash(startUp, Object.keys(INSERTED))).lines).toEqual({
      ...INSERTED,
      "ralph run -f su\t": "ralph run -f sub ",
    });
  });

  it("works where : and = do not split words", async () => {
    const startUp = `COMP_WORDBREAKS=\${COMP_WORDBREAKS//[:=]/}\n${LOAD}`;
    expect((await inBash(startUp, Object.keys(INSERTED))).lines).toEqual(INSERTED);
  });

  it("completes the word at the cursor, not the end of the line", async () => {
    const left = "\x1b[D".repeat(" --json".length);
    const keys = `ralph run --qui --json${left}\t`;
    expect((await inBash(LOAD, [keys])).lines).toEqual({ [keys]: "ralph run --quiet --json" });
  });
});
