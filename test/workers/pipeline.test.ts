import { expect, it } from "vitest";
import { createWorkers } from "./kit.js";

it("a pipeline runs as a worker, ends in the gutter there, and is resumed by the worker's name", async () => {
  const p = createWorkers();
  p.agent([{ text: "tried" }]);
  p.settings({ agent: { command: "claude" } });
  p.write("s.md", "A spec.\n");
  p.write(".ralph/pipeline.yaml", "maxGateRetries: 1\nstates:\n  A: { command: test -f a }\n");
  const spawned = await p.ralph("spawn", "--name", "w", "pipeline", "run", "s.md");
  expect(spawned.stdout).toContain("spawned w (tmux: ralph:w)");
  expect((await p.ralph("wait", "w")).code).toBe(1);
  expect(p.log("w")).toContain(
    "[STOP] failed: checks (max retries exhausted for state A: ❌ it printed nothing)",
  );
  p.write("a", "");
  expect((await p.ralph("resume", "w")).code).toBe(0);
  expect((await p.ralph("wait", "w")).code).toBe(0);
  expect(p.read(".ralph/state.md")).toMatch(
    /GUTTER -> A \(resumed, retries reset\)\n.*A -> COMPLETE \(gate passed\)\n$/,
  );
});
