import { describe, expect, it } from "vitest";
import { examine } from "../../../src/setup/doctor/examine.js";
import { createProject } from "../../kit.js";
import { machine } from "./machine.js";

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
    const names = ["settings", "git", "system", "sandboxes", "agents", "github"];
    expect(groups.map(({ group }) => group)).toEqual(names);
    expect(groups.filter(({ findings }) => findings.some(({ name }) => name === "system"))).toEqual([
      {
        group: "system",
        findings: [
          {
            name: "system",
            status: "problem",
            message: "cannot examine it: no idea",
            fix: "this is a bug in ralph: please report it",
          },
        ],
      },
    ]);
  });
});
