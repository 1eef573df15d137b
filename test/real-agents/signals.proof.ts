import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../kit.js";
import { processesOf, type Staged, stage } from "./kit.js";

/** Nobody else sleeps for so long. */
const LONG = `${100_000 + process.pid}.25`;

describe("signals", () => {
  it("SIGTERM, twice, during a shell command: no process is left", async () => {
    const p = await stage([{ bash: `touch started.txt; sleep ${LONG}; touch never.txt` }]);
    const run = p.start(["run", "-p", "Work", "--json"]);
    await eventually(() => existsSync(join(p.dir, "started.txt")) && sleepers().length > 0, 40_000);
    // The first one lets the agent finish.
    run.child.kill("SIGTERM");
    await run.until((output) => output.includes("a second signal ends it now"));
    run.child.kill("SIGTERM");
    const { code, finished } = await run.result;
    expect({ code, reason: finished.reason }).toEqual({ code: 130, reason: "interrupted" });
    expect({ ...left(p), never: p.exists("never.txt") }).toEqual({
      sleepers: [],
      processes: [],
      never: false,
    });
  });
});

function left(p: Staged) {
  return { sleepers: sleepers(), processes: processesOf(p) };
}

function sleepers(): string[] {
  const all = execFileSync("ps", ["-A", "-o", "args="], { encoding: "utf8" }).split("\n");
  return all.filter((args) => args.includes(LONG));
}
