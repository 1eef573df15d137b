import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../kit.js";
import { createWorkers } from "./kit.js";

it("a worker notifies under its own name", async () => {
  const p = createWorkers();
  p.settings({ notify: { command: "cat > note.tmp && mv note.tmp note.json" } });
  const flags = ["--name", "docs", "--prompt-file", "PROMPT.md", "-n", "1", "--no-inhibit"];
  expect((await p.ralph("spawn", ...flags, "--", "sh", "-c", "cat; echo ok")).code).toBe(0);
  await eventually(() => existsSync(join(p.dir, "note.json")));
  expect(JSON.parse(p.read("note.json"))).toEqual({
    run: expect.any(String) as string,
    name: "docs",
    event: "finished",
    reason: "max_iterations",
    iterations: 1,
    costUsd: null,
    message: "iteration completed",
  });
});
