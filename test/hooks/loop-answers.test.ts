import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type HookInput, readInput } from "../../src/hooks/hook.cjs";
import { loopAnswers } from "../../src/hooks/server.js";
import { temporaryFolder } from "../kit.js";

const INPUT = readInput("{}") as HookInput;

describe("the loop's answer to a stop", () => {
  const answering = (mayStop?: () => Promise<string | undefined>) =>
    loopAnswers({ mayStop, keepsStories: true });

  it("is the recipe's reason", async () => {
    const { answers } = answering(async () => "not yet");
    expect(await answers.stop?.(INPUT)).toEqual({ decision: "block", reason: "not yet" });
  });

  it("is not given for a recipe that lets every agent stop", () => {
    expect(Object.keys(answering().answers)).toEqual(["context"]);
  });

  it("lets the agent go after five times, and counts anew for the next call", async () => {
    const { answers, beginCall } = answering(async () => "never");
    const stops = async (): Promise<number> => {
      let count = 0;
      while ((await answers.stop?.(INPUT)) !== undefined) count += 1;
      return count;
    };
    expect(await stops()).toBe(5);
    beginCall(1000);
    expect(await stops()).toBe(5);
  });
});

describe("the loop's answer to a filling context", () => {
  it("is one alert for each threshold, the highest one for a jump, and again in the next call", async () => {
    const transcript = join(temporaryFolder(), "t.jsonl");
    writeFileSync(transcript, "");
    const { answers, beginCall } = loopAnswers({ keepsStories: false });
    const at = async (percent: number): Promise<string | undefined> => {
      truncateSync(transcript, percent * 40);
      return /About (\d+)%/.exec(JSON.stringify(await answers.context?.({ ...INPUT, transcript })))?.[1];
    };
    const told = [];
    beginCall(1000);
    for (const percent of [10, 52, 55, 78, 79, 61, 95]) told.push(await at(percent));
    beginCall(1000);
    told.push(await at(95));
    expect(told).toEqual([undefined, "50", undefined, "70", undefined, undefined, "90", "90"]);
  });
});
