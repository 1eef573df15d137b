import { expect, it } from "vitest";
import { createProject, eventually } from "../kit.js";
import { LIMITED } from "./nets-kit.js";

it("a run that waits is told as what it is", async () => {
  const p = createProject();
  p.settings({ agent: { command: "claude" } });
  p.agent([LIMITED]);
  const run = p.start(["run", "-p", "a", "-n", "25", "--json", "--no-inhibit", "--name", "night"]);
  await run.until((output) => output.includes('"limit.waiting"'));
  const [id = ""] = (await p.ralph("ls", "--format", "names")).stdout.trim().split("\n");
  expect((await p.ralph("ls")).stdout).toContain(" 1/25 ");
  expect((await p.ralph("status", id)).stdout).toContain("Iteration: 1/25\n");
  expect((await p.ralph("logs", id)).stdout).toContain("The usage limit of claude is reached");
  expect((await p.ralph("pause")).stdout).toBe(
    `pausing run ${id}: no agent is running, so the loop pauses now\n`,
  );
  await run.until((output) => output.includes('"run.paused"'));
  run.child.kill("SIGINT");
  expect((await run.result).code).toBe(130);
  await eventually(() => p.calls() === 1);
  expect((await p.ralph("status", id)).stdout).toContain("Iteration: 0/25\n");
});
