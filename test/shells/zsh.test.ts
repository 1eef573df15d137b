import { describe, expect, it } from "vitest";
import { INSERTED, insertedFor, projectToComplete, type Typed, typed } from "./terminal.js";

const START_UP = `
PS1='ready> '
print-line() { print -rn -- "<<$BUFFER>>" }
zle -N print-line
bindkey -e
bindkey '^T' print-line
unset zle_bracketed_paste
`;
const COMPINIT = "autoload -Uz compinit && compinit -u\n";
const LOAD = "source <(ralph completion zsh)\n";

async function inZsh(startUp: string, keys: string[]): Promise<Typed> {
  const p = projectToComplete();
  p.write("../home/house.md", "");
  p.write("../home/.zshrc", START_UP + startUp);
  p.env["ZDOTDIR"] = p.home;
  return typed(p, "zsh -d -i", keys);
}

describe("completion in zsh", () => {
  it("inserts what is meant, safely quoted", async () => {
    expect((await inZsh(COMPINIT + LOAD, Object.keys(INSERTED))).lines).toEqual(INSERTED);
  });

  it("shows descriptions, in the order of ralph", async () => {
    const { screen } = await inZsh(COMPINIT + LOAD, ["ralph ru\t\t", "ralph run --agent \t"]);
    expect(screen).toMatch(/run +-- repeat a prompt.*runs +-- list the runs/s);
    expect(screen).toMatch(/claude +-- not on PATH.*amp +-- not on PATH.*a:b +-- profile in the settings/s);
  });

  it.each([
    ["before compinit", LOAD + COMPINIT],
    ["without compinit", LOAD],
    [
      "from a folder of functions",
      `mkdir ../f; ralph completion zsh > ../f/_ralph; fpath+=($PWD/../f)\n${COMPINIT}`,
    ],
  ])("works when it is loaded %s", async (_, startUp) => {
    const some = insertedFor(/ -f (?:my|su)/);
    expect((await inZsh(startUp, Object.keys(some))).lines).toEqual(some);
  });
});
