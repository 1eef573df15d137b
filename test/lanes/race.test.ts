import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { LaneResult } from "../../src/events.js";
import { processesOf } from "../faults/ending.js";
import { createProject, type Project } from "../kit.js";

const RESULT = `echo '{"type":"result","subtype":"success","result":"COMPLETE","total_cost_usd":COST,"usage":{"input_tokens":1,"output_tokens":1}}'`;

/** Agents of a race by their names; each does something in bash, and says that it is done. */
function project(agents: Record<string, { does: string; cost?: number }>): Project {
  const p = createProject();
  for (const [name, { does, cost = 0.1 }] of Object.entries(agents)) {
    const body = `#!/bin/bash\ncase "$1" in --version|--help) exit;; esac\ncat > /dev/null\n${does}\n${RESULT.replace("COST", String(cost))}\n`;
    p.program(name, body);
  }
  const profiles = Object.keys(agents).map((name) => [name, { command: "claude", env: { WHO: name } }]);
  // All of them speak as claude does.
  p.program("claude", `#!/bin/bash\nexec "$(dirname "$0")/$WHO" "$@"\n`);
  p.settings({ agent: { command: "claude" }, agents: Object.fromEntries(profiles) });
  p.sh("git add -A; git commit -qm settings");
  return p;
}

const RACE = ["race", "make it", "--check", "test -f made.txt", "--json"];
const results = (lanes: LaneResult[] = []) => lanes.map(({ lane, result }) => [lane, result]);

describe("a race", () => {
  test("tears down the worktree of each lane before it goes, whether its work is landed or thrown away", async () => {
    const p = project({
      quick: { does: "echo new > made.txt" },
      slow: { does: "echo begun > begun.txt; exec sleep 300" },
    });
    await p.ralph("config", "set", "teardown", 'echo "$RALPH_SLOT $PWD" >> $HOME/torn-down');
    const { finished } = await p.ralph(...RACE, "--agent", "quick", "--agent", "slow");
    expect(await p.ralph("land")).toMatchObject({ code: 0 });
    expect(await p.ralph("clean", "--worktrees", "--force", "--yes")).toMatchObject({ code: 0 });
    const places = finished.lanes?.map(({ worktree }, slot) => `${slot} ${worktree}\n`);
    expect(readFileSync(join(p.home, "torn-down"), "utf8")).toBe(places?.join(""));
  });

  test("is won by the first lane whose checks pass; the others are ended, and what they did is kept", async () => {
    const p = project({
      quick: { does: "echo new > made.txt" },
      slow: { does: "echo begun > begun.txt; exec sleep 300" },
    });
    const { code, finished } = await p.ralph(...RACE, "--baseline", "--agent", "quick", "--agent", "slow");
    const baseline = [{ command: "test -f made.txt", before: false, now: true, witness: "red→green" }];
    expect(finished.baseline).toEqual(baseline);
    expect(JSON.parse((await p.ralph("report", "--json")).stdout)).toMatchObject({ baseline });
    expect({ code, reason: finished.reason, lanes: results(finished.lanes) }).toEqual({
      ...{ code: 0, reason: "all_checks_passed" },
      lanes: [
        ["quick-1", "won"],
        ["slow-1", "stopped"],
      ],
    });
    expect(finished.branch).toBe(finished.lanes?.[0]?.branch);
    expect(p.sh(`git show ${finished.branch}:made.txt`)).toBe("new\n");
    expect((await p.ralph("verify")).code).toBe(0);
    const cleaned = await p.ralph("clean", "--worktrees", "--yes");
    expect({ code: cleaned.code, isThere: existsSync(finished.worktree ?? "") }).toEqual({
      ...{ code: 0, isThere: true },
    });
    expect((await p.ralph("status")).stdout).toContain("Iteration: 1/");
    const loser = finished.lanes?.[1];
    expect(existsSync(loser?.worktree ?? "")).toBe(true);
    expect(p.sh(`git rev-parse --verify ${loser?.branch}`)).toMatch(/^\w{40}/);
    expect(await p.ralph("verify")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(p.sh(`git rev-parse ${finished.branch}`).trim()),
    });
    expect(p.exists("made.txt")).toBe(false);
    expect(processesOf(p.root)).toEqual([]);
    expect((await p.ralph("clean", "--worktrees", "--force", "--yes")).code).toBe(0);
    expect(existsSync(`${p.dir}-worktrees`)).toBe(false);
  });

  test("each lane has its own iterations: one that fails quickly leaves the others theirs", async () => {
    const p = project({
      wrong: { does: "echo new >> other.txt; echo > wrong.done" },
      right: {
        does: "until ls ../*/wrong.done; do sleep 0.05; done > /dev/null 2>&1; test -f first && echo new > made.txt; touch first",
      },
    });
    const { code, finished } = await p.ralph(...RACE, "-n", "2", "--agent", "wrong", "--agent", "right");
    expect({ code, lanes: results(finished.lanes) }).toEqual({
      code: 0,
      lanes: [
        ["right-1", "won"],
        ["wrong-1", "stopped"],
      ],
    });
  });

  test("a usage limit holds the lanes of that agent; those of the other one go on", async () => {
    const rejected = `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":'$(($(date +%s) + 3600))'}}`;
    const p = project({
      limited: {
        does: `echo '${rejected}'; echo '{"type":"result","subtype":"success","is_error":true,"result":"You have hit your limit"}'; echo >> ../limited; exit 1`,
      },
      // It is asked again when the other one has said that it is limited.
      free: {
        does: "until test -s ../limited; do sleep 0.05; done; test -f first && echo new > made.txt; touch first",
      },
    });
    const { code, finished, events } = await p.ralph(...RACE, "--agent", "limited", "--agent", "free");
    const waits = events.filter(({ type }) => type === "limit.waiting").map(({ lane }) => lane);
    expect({ code, waits, lanes: results(finished.lanes) }).toEqual({
      ...{ code: 0, waits: ["limited-1"] },
      lanes: [
        ["free-1", "won"],
        ["limited-1", "stopped"],
      ],
    });
  });

  test("--all lets every lane finish: the fewest changed lines win, then the lowest cost", async () => {
    const p = project({
      long: { does: "seq 9 > made.txt" },
      dear: { does: "echo new > made.txt", cost: 0.5 },
      cheap: { does: "echo new > made.txt" },
      wrong: { does: "echo new > other.txt" },
    });
    const agents = ["long", "dear", "cheap", "wrong"].flatMap((name) => ["--agent", name]);
    const { code, finished } = await p.ralph(...RACE, "--all", "--stuck-after", "1", ...agents);
    expect({ code, lanes: results(finished.lanes) }).toEqual({
      code: 0,
      lanes: [
        ["cheap-1", "won"],
        ["dear-1", "passed"],
        ["long-1", "passed"],
        ["wrong-1", "failed"],
      ],
    });
  });

  test("--attempts gives each agent several lanes, and the limits are for all of them", async () => {
    const p = project({ one: { does: "echo $RANDOM > try.txt", cost: 0.4 } });
    const { code, finished } = await p.ralph(...RACE, "--agent", "one", "--attempts", "3", "--max-cost", "1");
    expect({ code, reason: finished.reason, lanes: finished.lanes?.length }).toEqual({
      ...{ code: 1, reason: "budget_exhausted", lanes: 3 },
    });
    expect(finished.costUsd).toBeLessThan(2);
  });

  test.each([
    ["one lane", ["--agent", "quick"]],
    ["too many lanes", ["--agent", "quick", "--attempts", "65"]],
    ["no attempt", ["--agent", "quick", "--attempts", "0"]],
    ["an agent that is not there", ["--agent", "quick", "--agent", "nobody-has-this"]],
    ["no check", ["--agent", "quick", "--attempts", "2", "--no-project-checks"]],
  ])("of %s is refused before anything is made", async (what, flags) => {
    const p = project({ quick: { does: "true" } });
    const before = p.sh("git for-each-ref; ls ..");
    const race = what === "no check" ? ["race", "make it"] : RACE;
    const { code, stderr } = await p.ralph(...race, ...flags);
    expect({ code, lines: stderr.trim().split("\n").length, after: p.sh("git for-each-ref; ls ..") }).toEqual(
      {
        ...{ code: 2, lines: 1, after: before },
      },
    );
  });
});
