import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseLine } from "../../src/records/read.js";
import { createProject } from "../kit.js";
import { processesOf } from "./ending.js";

const RESULT = `echo '{"type":"result","subtype":"success","result":"<response>DONE</response>","total_cost_usd":0.5}'`;
const PEAK = `--import=${join(import.meta.dirname, "../../bench/tell-at-end.mjs")}`;

interface Hostile {
  what: string;
  /** What the agent does, in bash. */
  does: string;
  flags?: string[];
  expected: { reason: string; iterations: number; costUsd: number | null };
}

const failed = { reason: "agent_failed", iterations: 1, costUsd: null };
const done = { reason: "completed", iterations: 1, costUsd: 0.5 };
/** Ends it by itself, and leaves it time for what it does. */
const TIMEOUT = ["--iteration-timeout", "2s"];

const HOSTILE: Hostile[] = [
  {
    what: "writes garbage before its result",
    does: `head -c 3000000 /dev/urandom; echo; head -c 3000000 /dev/urandom >&2; ${RESULT}`,
    expected: done,
  },
  {
    what: "writes a line of 64 MB before its result",
    does: `head -c 67108864 /dev/zero | tr '\\0' x; echo; ${RESULT}`,
    expected: done,
  },
  {
    what: "writes an event of 64 MB before its result",
    does: `printf '{"type":"assistant","message":{"content":[{"type":"text","text":"'; head -c 67108864 /dev/zero | tr '\\0' x; echo '"}]}}'; ${RESULT}`,
    expected: done,
  },
  { what: "writes without end", does: "yes 'not json'", flags: TIMEOUT, expected: failed },
  { what: "writes one line without end", does: "tr '\\0' x < /dev/zero", flags: TIMEOUT, expected: failed },
  {
    what: "writes errors without end",
    does: "yes >&2",
    flags: TIMEOUT,
    expected: failed,
  },
  {
    what: "closes its output and lives on",
    does: "exec >&- 2>&-; sleep 300",
    flags: TIMEOUT,
    expected: failed,
  },
  {
    what: "has answered, and closes its output and lives on",
    does: `${RESULT}; exec >&- 2>&-; sleep 300`,
    flags: ["--inactivity-timeout", "1"],
    expected: done,
  },
  {
    what: "ignores SIGTERM",
    does: "trap '' TERM; while :; do sleep 1; done",
    flags: TIMEOUT,
    expected: failed,
  },
  {
    what: "forks away, in a session of its own and without a parent",
    does: "(setsid bash -c 'trap \"\" TERM HUP; while :; do sleep 1; done' < /dev/null > /dev/null 2>&1 &) ; sleep 300",
    flags: TIMEOUT,
    expected: failed,
  },
];

describe("an agent that", () => {
  test.each(HOSTILE)(
    "$what is ended in time, and nothing of it is left",
    async ({ does, flags = [], expected }) => {
      const p = createProject({ git: false });
      p.program("claude", `#!/bin/bash\ncat > /dev/null\n${does}\n`);
      const args = ["run", "-p", "a", "--agent", "claude", "--max-failures", "1", "--json", ...flags];
      const begun = performance.now();
      const run = p.start(args, { env: { NODE_OPTIONS: PEAK } });
      const { finished, stderr } = await run.result;
      expect(performance.now() - begun).toBeLessThan(40_000);
      expect(finished).toMatchObject(expected);
      // Of the agent's children, too: they end with ralph at the latest.
      expect(processesOf(p.root)).toEqual([]);
      expect(Number(/at the end: (\d+) kB/.exec(stderr)?.[1])).toBeLessThan(250_000);
      const lines = readFileSync(join(p.runFolder(), "journal.ndjson"), "utf8").trimEnd().split("\n");
      expect(lines.filter((line) => parseLine(line) === undefined)).toEqual([]);
    },
  );
});
