import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ASKS, BLOCKED, LIMITED, NETS, prepare, RECIPES } from "../commands/nets-kit.js";
import { createWorkers, type Workers } from "./kit.js";

function notes({ root }: Workers): unknown[] {
  const lines = readFileSync(join(root, "notes.ndjson"), "utf8").trim().split("\n");
  return lines.map((line) => {
    const { name, event, iterations } = JSON.parse(line) as Record<string, unknown>;
    return [name, event, iterations];
  });
}

async function blockedWorker(args: string[]): Promise<Workers> {
  const p = createWorkers();
  prepare(p, [LIMITED, ASKS, LIMITED]);
  await p.ralph("spawn", "--name", "w", ...args, ...NETS, "--no-inhibit");
  await p.ralph("wait", "w");
  return p;
}

it("a worker of each recipe waits for a limit, protects files, is blocked, and notifies", async () => {
  const workers = await Promise.all(RECIPES.map(([, args]) => blockedWorker(args)));
  expect(workers.map((p) => [p.read("kept"), p.calls(), notes(p)])).toEqual(
    RECIPES.map(() => [
      "good\n",
      2,
      [
        ["w", "waiting", 0],
        ["w", "blocked", 1],
      ],
    ]),
  );

  const p = workers.at(-1) as Workers;
  expect((await p.ralph("answer", "w", "Blue")).code).toBe(0);
  expect((await p.ralph("resume", "w", "--fallback-agent", "other")).code).toBe(0);
  expect((await p.ralph("wait", "w")).code).toBe(0);
  expect(readFileSync(join(p.root, "other.prompt"), "utf8")).toContain(`${BLOCKED}\nThe answer is: Blue`);
  expect(notes(p).at(-1)).toEqual(["w", "finished", 2]);
});
