import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../kit.js";
import { createWorkers } from "./kit.js";

it("a worker notifies under its own name, and its log tells what could not be told", async () => {
  const p = createWorkers();
  const webhook = "http://127.0.0.1:1/x";
  p.settings({ notify: { command: "cat > note.tmp && mv note.tmp note.json", webhook } });
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
  await p.ralph("wait", "docs");
  expect((await p.ralph("logs", "docs")).stdout).toContain(
    "ralph: warning: notify.webhook failed: cannot reach it",
  );
});
