import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runAgent } from "../../src/ask/run-agent.js";
import { createProject, eventually, isAlive } from "../kit.js";
import { setupFor, UNLIMITED } from "./setup.js";

test("an agent whose records cannot be written is not left running", async () => {
  const p = createProject();
  p.program("sleeper", "#!/bin/sh\nsleep 600\n");
  mkdirSync(join(p.root, "prompt.md"));
  const asked = runAgent(setupFor(p, "sleeper"), {
    iteration: 1,
    attempt: 1,
    prompt: "x",
    remaining: UNLIMITED,
  });
  await asked.next();
  await expect(asked.next()).rejects.toThrow(`cannot write ${join(p.root, "prompt.md")}: it is a directory`);
  // The bracket keeps the search from finding itself.
  expect(p.sh(`pgrep -f ${join(p.bin, "[s]leeper")} || true`)).toBe("");
});

test("an agent is ended when nobody listens to it any more", async () => {
  const p = createProject();
  p.program("talker", "#!/bin/sh\necho $$ > pid\necho words\nsleep 600\n");
  const asked = runAgent(setupFor(p, "talker"), {
    iteration: 1,
    attempt: 1,
    prompt: "x",
    remaining: UNLIMITED,
  });
  for await (const { type } of asked) if (type === "agent.event") break;
  await eventually(() => !isAlive(Number(p.read("pid"))));
});
