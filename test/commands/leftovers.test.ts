import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { splitWords } from "../../src/words.js";
import { atEnd, claudeProject, eventually, isAlive, type Project } from "../kit.js";

const DONE = { text: "<response>DONE</response>\n\nCOMPLETE" };
/** Whether the process lives whose number an agent or a check has left; a zombie does not. */
const LIVES = "ps -o stat= -p $(cat ../left) | grep -q '^[^Z]'";
const IS_DEAD = `! ${LIVES}`;

/** Ways to leave a process behind; each writes its number to a file. */
const WAYS = {
  "in the background": "(echo $BASHPID > ../left; exec sleep 60) >/dev/null 2>&1 &",
  "in a session of its own": "setsid bash -c 'echo $$ > ../left; exec sleep 60' >/dev/null 2>&1 &",
  "after two forks": "( (echo $BASHPID > ../left; exec sleep 60) >/dev/null 2>&1 & );",
  "without its environment": "env -i bash -c 'echo $$ > ../left; exec sleep 60' >/dev/null 2>&1 &",
};
const UNTIL_STARTED = "until test -s ../left; do sleep 0.01; done";

const RECIPES: Record<string, (check: string) => string[]> = {
  run: (check) => ["run", "-p", "a", "--check", check],
  loop: (check) => ["loop", "a", "--check", check],
};

function left(p: Project): number {
  return Number(readFileSync(join(p.root, "left"), "utf8"));
}

describe.each(Object.entries(RECIPES))("ralph %s", (_, words) => {
  it.each(Object.entries(WAYS))("ends what an agent leaves %s before anything is judged", async (__, way) => {
    const p = claudeProject({ bash: `${way} ${UNTIL_STARTED}`, ...DONE });
    const { code, all } = await p.ralph(...words(IS_DEAD), "-n", "1");
    expect(code, all).toBe(0);
    expect(all).toContain("Ended a process that was left running (--keep-background keeps them)\n");
    expect(isAlive(left(p))).toBe(false);
  });

  it("ends what a check leaves, so that the next one does not meet it", async () => {
    const p = claudeProject({ text: "not yet" }, { bash: "touch ok", ...DONE });
    const check = `if test -s ../left && ${LIVES}; then exit 9; fi; ${WAYS["in a session of its own"]} ${UNTIL_STARTED}; test -f ok`;
    const { code, all } = await p.ralph(...words(check), "-n", "2");
    expect(code, all).toBe(0);
    expect(isAlive(left(p))).toBe(false);
  });
});

it("ends what a pipeline's agent leaves before its gate runs", async () => {
  const p = claudeProject({ bash: `${WAYS["in a session of its own"]} ${UNTIL_STARTED}`, text: "done" });
  p.write("spec.md", "a spec");
  p.write(".ralph/pipeline.yaml", `states:\n  A: { command: "${IS_DEAD}", agent: before }\n`);
  const { code, all } = await p.ralph("pipeline", "run", "spec.md");
  expect(code, all).toBe(0);
});

it("an agent in a worktree cannot rewrite what is committed as verified", async () => {
  const later =
    "setsid bash -c 'echo $$ > ../../left; until test -f ../../go; do sleep 0.01; done; echo bad > app' >/dev/null 2>&1 &";
  const p = claudeProject({
    bash: `echo good > app; ${later} until test -s ../../left; do sleep 0.01; done`,
    ...DONE,
  });
  const { code, all } = await p.ralph(
    ...splitWords("loop a --check 'grep good app; touch ../../go' --worktree w"),
  );
  expect(code, all).toBe(0);
  expect(p.sh("git show ralph/w:app")).toBe("good\n");
  expect(isAlive(left(p))).toBe(false);
});

describe("--keep-background", () => {
  it("leaves it running, and says so in the first lines, the events and the report", async () => {
    const p = claudeProject({ bash: `${WAYS["in a session of its own"]} ${UNTIL_STARTED}`, ...DONE });
    const { code, all, events } = await p.ralph(
      ...splitWords("run -p a --keep-background --check"),
      "kill -0 $(cat ../left)",
      "--json",
    );
    atEnd(() => process.kill(left(p), "SIGKILL"));
    expect(code, all).toBe(0);
    expect(all).toContain(
      "ralph: background: kept; ralph does not end what agents and checks leave running\n",
    );
    expect(events[0]).toMatchObject({ type: "run.started", background: "keep" });
    expect((await p.ralph("report")).stdout).toMatch(
      /background +kept: what agents and checks left running was not ended/,
    );
    expect(isAlive(left(p))).toBe(true);
  });

  it("voids checks that passed on files which changed while they ran", async () => {
    const later =
      "(until test -f ../go; do sleep 0.01; done; echo bad > app; touch ../wrote) >/dev/null 2>&1 &";
    const p = claudeProject({ bash: `echo good > app; ${later}`, ...DONE });
    const check = "grep good app && touch ../go && until test -f ../wrote; do sleep 0.01; done";
    const { code, events } = await p.ralph(
      ...splitWords("run -p a --keep-background --check"),
      check,
      "-n",
      "1",
      "--json",
    );
    expect(code).toBe(1);
    expect(events.filter(({ type }) => type === "violation")).toMatchObject([
      { file: "app", what: "app changed while the checks ran, and not by them: the checks prove nothing" },
    ]);
  });
});

it("a check that writes a report of its own runs twice at first, and passes", async () => {
  const p = claudeProject({ text: "not yet" }, DONE);
  const check = "date +%N > report.txt; echo x >> ../count";
  const { code, events } = await p.ralph("run", "-p", "a", "--check", check, "--json", "-n", "2");
  expect(code).toBe(0);
  expect(readFileSync(join(p.root, "count"), "utf8")).toBe("x\n".repeat(3));
  expect(events.filter(({ type }) => type === "violation")).toEqual([]);
  expect(events.filter((event) => event.type === "check.started" && event.again !== undefined)).toMatchObject(
    [{ again: "report.txt changed while the checks ran", place: 1 }],
  );
});

it("progress is what the checks say: fewer failing tests are no standstill", async () => {
  const p = claudeProject({ bash: "echo x >> .left/done", text: "One more task is done." });
  p.sh("mkdir .left && echo .left > .gitignore && git add -A && git commit -qm ignored");
  const check =
    'done=$(wc -l < .left/done); for i in $(seq 1 9); do [ $i -gt "$done" ] && echo "FAILED tests/t.py::test_$i"; done; echo "same end"; test "$done" -ge 9';
  const { events, finished } = await p.ralph("run", "-p", "a", "--check", check, "-n", "7", "--json");
  expect(finished).toMatchObject({ reason: "max_iterations", iterations: 7 });
  expect(events.filter(({ type }) => type === "iteration.finished")).toHaveLength(7);
});

it("work that was interrupted while its checks ran is verified anew by resume", async () => {
  const p = claudeProject({ bash: "echo good > app", ...DONE });
  const run = p.start(["loop", "a", "--check", "touch ../checking; sleep 0.5; grep good app", "--json"]);
  await eventually(() => existsSync(join(p.root, "checking")));
  run.child.kill("SIGINT");
  expect((await run.result).code).toBe(130);
  p.write("app", "bad\n");
  const { code, finished } = await p.ralph("resume", "-n", "1", "--json");
  expect({ code, finished }).toMatchObject({ code: 1, finished: { success: false } });
});

it("nothing is committed that an agent changed while it worded the commit message", async () => {
  const p = claudeProject();
  p.settings({ agent: { command: "claude" }, scm: { command: "git", tasks: ["commit"], stage: "tracked" } });
  p.write("app", "good\n");
  p.sh("git add -A && git commit -qm app");
  const result = {
    type: "result",
    is_error: false,
    result: "<response>DONE</response>",
    total_cost_usd: 0.01,
  };
  p.program(
    "claude",
    `#!/bin/sh
cat > /dev/null
case " $* " in *" text "*) echo bad > app; echo work; exit ;; esac
echo good again > app
echo '${JSON.stringify(result)}'
`,
  );
  const { finished } = await p.ralph("run", "-p", "a", "--check", "grep good app", "-n", "1", "--json");
  expect(finished.success).toBe(false);
  expect(p.sh("git show HEAD:app")).toBe("good\n");
});
