import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../kit.js";
import { serverOf } from "../workers/kit.js";
import { processesOf, type Staged, stage } from "./kit.js";

interface Left {
  sleepers: string[];
  processes: string[];
  never: boolean;
}

/** Nobody else sleeps for so long. */
const LONG = `${100_000 + process.pid}.25`;
const AT_WORK = { bash: `touch started.txt; sleep ${LONG}; touch never.txt` };
const NOTHING: Left = { sleepers: [], processes: [], never: false };

describe("signals", () => {
  it("SIGTERM, twice, during a shell command: no process is left", async () => {
    const p = await stage([AT_WORK]);
    const run = p.start(["run", "-p", "Work", "--json"]);
    await isAtWork(p);
    // The first one lets the agent finish.
    run.child.kill("SIGTERM");
    await run.until((output) => output.includes("a second signal ends it now"));
    run.child.kill("SIGTERM");
    const { code, finished } = await run.result;
    expect({ code, reason: finished.reason }).toEqual({ code: 130, reason: "interrupted" });
    expect(left(p)).toEqual(NOTHING);
  });

  it("ralph kill during a shell command of a worker: no process is left", async () => {
    const p = await stage([AT_WORK]);
    const server = serverOf(p);
    expect(await p.ralph("spawn", "--name", "w", "run", "-p", "Work")).toMatchObject({ code: 0 });
    await isAtWork(p);
    expect(await p.ralph("kill", "w")).toMatchObject({ code: 0 });
    p.sh(`tmux -L ${server} kill-server 2> /dev/null || true`);
    await eventually(() => processesOf(p).length === 0);
    expect(left(p)).toEqual(NOTHING);
  });
});

function isAtWork(p: Staged): Promise<void> {
  return eventually(() => existsSync(join(p.dir, "started.txt")) && sleepers().length > 0, 60_000);
}

function left(p: Staged): Left {
  return { sleepers: sleepers(), processes: processesOf(p), never: p.exists("never.txt") };
}

function sleepers(): string[] {
  const all = execFileSync("ps", ["-A", "-o", "args="], { encoding: "utf8" }).split("\n");
  return all.filter((args) => args.includes(LONG));
}
