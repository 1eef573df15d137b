import { describe, expect, it } from "vitest";
import { AGENT_NAMES } from "../../src/agents/index.js";
import { INSERTED, PROFILES, projectToComplete, type Typed, typed } from "./terminal.js";

const START_UP = `
function fish_prompt; printf 'ready> '; end
function fish_greeting; end
bind \\ct 'printf "<<%s>>" (commandline)'
ralph completion fish | source
`;

async function inFish(keys: string[]): Promise<Typed> {
  const p = projectToComplete();
  p.write("../home/house.md", "");
  p.write("../home/.config/fish/config.fish", START_UP);
  return typed(p, "fish -i", keys);
}

describe("completion in fish", () => {
  it("inserts what is meant, safely quoted", async () => {
    expect((await inFish(Object.keys(INSERTED))).lines).toEqual(INSERTED);
  });

  it("shows descriptions, in the order of ralph", () => {
    const p = projectToComplete();
    p.write("../home/.config/fish/config.fish", START_UP);
    expect(p.sh(`fish -c 'complete -C "ralph res"; complete -C "ralph run --agent="'`).split("\n")).toEqual([
      "resume\tcontinue a run or a worker that was paused, stopped or killed",
      ...AGENT_NAMES.map((name) => `--agent=${name}\tnot on PATH`),
      ...PROFILES.map((name) => `--agent=${name}\tprofile in the settings`),
      "",
    ]);
  });
});
