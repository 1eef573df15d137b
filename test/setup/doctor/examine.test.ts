import { afterEach, describe, expect, it, vi } from "vitest";
import { examine } from "../../../src/setup/doctor/examine.js";
import { inTime } from "../../../src/setup/doctor/probe.js";
import { createProject } from "../../kit.js";
import { machine } from "./machine.js";

afterEach(() => {
  vi.useRealTimers();
});

describe("an examination", () => {
  it("that fails is a finding, and the others go on", async () => {
    const broken = {
      ...machine(createProject()),
      get node(): never {
        throw new Error("no idea");
      },
    };
    const groups = await Promise.all(
      examine(broken).map(async ({ group, findings }) => ({ group, findings: await findings })),
    );
    expect(groups.map(({ group }) => group)).toEqual(["settings", "git", "system", "sandboxes", "agents"]);
    expect(groups.filter(({ findings }) => findings.some(({ name }) => name === "system"))).toEqual([
      {
        group: "system",
        findings: [
          {
            name: "system",
            status: "problem",
            message: "could not be examined: no idea",
            fix: "this is a bug in ralph: please report it",
          },
        ],
      },
    ]);
  });

  it("does not wait for a disk that never answers", async () => {
    vi.useFakeTimers();
    const waiting = expect(inTime(new Promise(() => {}))).rejects.toThrow("it did not answer within 5 s");
    await vi.advanceTimersByTimeAsync(5000);
    await waiting;
  });
});
