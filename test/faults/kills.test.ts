import { expect, test } from "vitest";
import type { LoopEvent } from "../../src/events.js";
import { eachOf, type KillPoint, killed, undisturbed } from "./harness.js";
import { SCRIPTS } from "./scripts.js";

/** Where the most is at stake; `npm run test:faults` takes every event of every script. */
const SAMPLE: [name: string, type: LoopEvent["type"], side: KillPoint["side"]][] = [
  ["run with checks and SCM", "agent.finished", "torn"],
  ["run with checks and SCM", "iteration.finished", "before"],
  ["loop with checks and a worktree", "agent.event", "after"],
  ["loop with checks and a worktree", "iteration.finished", "after"],
  ["loop with checks and a worktree", "run.finished", "before"],
];

const names = [...new Set(SAMPLE.map(([name]) => name))];

test.each(SCRIPTS.filter(({ name }) => names.includes(name)))(
  "$name, killed and resumed, ends the same",
  async (script) => {
    const whole = await undisturbed(script);
    const points = SAMPLE.filter(([name]) => name === script.name);
    await eachOf(points, 2, async ([, type, side]) => {
      const line = whole.events.findLastIndex((event) => event.type === type) + 1;
      expect(await killed(script, { line, side }, whole)).toEqual([]);
    });
  },
);
