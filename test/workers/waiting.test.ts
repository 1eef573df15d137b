import { expect, it } from "vitest";
import { LIMITED } from "../commands/nets-kit.js";
import { eventually } from "../kit.js";
import { createWorkers } from "./kit.js";

it("a worker that waits says so when its name is wanted or Ctrl+C is pressed", async () => {
  const p = createWorkers();
  p.agent([LIMITED]);
  await p.spawn(["claude"], "--no-inhibit");
  await eventually(() => p.log().includes("[WAIT]"));
  expect((await p.spawn(["claude"])).stderr).toContain("worker 'w' already exists (waiting) (ralph attach w");
  p.tmux("send-keys", "-t", "ralph:w", "C-c");
  const said = "[ralph] w: Ctrl+C is for the agent, and no agent is running now: ";
  await eventually(() => p.output().includes(`${said}ralph pause w holds this loop, ralph kill w ends it\n`));
  await p.ralph("pause", "w");
  await eventually(() => p.log().includes("[PAUSE]"));
  p.tmux("send-keys", "-t", "ralph:w", "C-c");
  await eventually(() => p.output().includes(`${said}ralph resume w continues this loop, ralph kill w`));
  expect((await p.spawn(["claude"])).stderr).toContain("worker 'w' already exists (paused) (ralph resume w");
  expect(p.calls()).toBe(1);
});
