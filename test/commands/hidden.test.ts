import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { hiddenFiles } from "../../src/run/hidden.js";
import { claudeProject, createProject, type Project, type Step } from "../kit.js";
import { story, tasks } from "../recipes/stories/samples.js";
import { APPROVE, FIX, IMPLEMENT, REJECT, project as storiesProject } from "./stories-kit.js";

const SECRET = "Wq7SecretWord";
/** It passes once the agent has made the file, whatever its name says. */
const CHECK = `echo ${SECRET}; test -f made`;
const HIDDEN = ["--hidden-check", CHECK];
const DONE = "<response>DONE</response>\nCOMPLETE";

/** Looks for the command everywhere where an agent can look: processes, variables, the project and all records. */
const HUNT =
  'cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ > "$HOME/found" 2> /dev/null; ps -efww >> "$HOME/found"; env >> "$HOME/found"; grep -rs . "$PWD" "$RALPH_HOME" >> "$HOME/found"; true';

/** What the hidden check of the latest run printed. */
const hiddenLog = (p: Project): string =>
  join(p.runFolder(), "../../hidden", basename(p.runFolder()), "1.log");

const found = (p: Project): string => readFileSync(join(p.home, "found"), "utf8");

/** Does nothing the first time, looks around the second time, and then does the work. */
const STEPS: Step[] = [
  { bash: HUNT, text: DONE },
  { bash: `${HUNT}; touch made; git add -A; git commit -qm made`, text: DONE },
];

const YAML = 'states:\n  A: { command: "true" }\n  B: { command: "true" }\n';

describe("a hidden check", () => {
  it.each([
    ["run", ["run", "-p", "x", "-n", "3"]],
    ["loop", ["loop", "x", "--check", "true", "-n", "3", "--baseline", "--confirm", "1"]],
  ])("decides in ralph %s, and no agent finds its command", async (_, args) => {
    const p = claudeProject(...STEPS);
    const { code, events, stdout } = await p.start([...args, ...HIDDEN, "--json"]).result;
    expect({ code, calls: p.calls() }).toEqual({ code: 0, calls: 2 });
    expect(found(p)).toContain("ralph");
    for (const text of [found(p), p.prompt(2), stdout]) expect(text).not.toContain(SECRET);
    expect(p.prompt(2)).toContain("A hidden check failed: hidden check 1.");
    const results = events.flatMap((event) =>
      event.type === "check.finished" && event.hidden
        ? [{ command: event.command, passed: event.passed, log: event.log, output: event.output }]
        : [],
    );
    const result = { command: "hidden check 1", log: "", output: "" };
    expect(results[0]).toEqual({ ...result, passed: false });
    expect(results.at(-1)).toEqual({ ...result, passed: true });
  });

  it("is shown to people when the run has ended, and is known in the receipt by its digest alone", async () => {
    const p = claudeProject(...STEPS);
    await p.ralph("run", "-p", "x", "-n", "3", ...HIDDEN);
    expect(readFileSync(hiddenLog(p), "utf8")).toBe(`$ ${CHECK}\n${SECRET}\n`);
    expect((await p.ralph("report")).stdout).toMatch(/ {2}hidden check 1 +✗✓\n/);
    const { iterations } = JSON.parse((await p.ralph("report", "--json")).stdout);
    expect(iterations[1].checks).toMatchObject([{ command: "hidden check 1", log: hiddenLog(p) }]);
    const receipt = readFileSync(join(p.runFolder(), "receipt.json"), "utf8");
    expect(receipt).toContain('"name": "hidden check 1",\n          "command": null');
    for (const name of ["receipt.json", "spec.json", "journal.ndjson"])
      expect(readFileSync(join(p.runFolder(), name), "utf8")).not.toContain(SECRET);
  });

  it("leaves the visible checks in the receipt and the report, also when all of them are confirmed", async () => {
    const p = claudeProject({ bash: "touch made", text: DONE });
    const { code, stdout } = await p.start([
      "run",
      "-p",
      "x",
      "--check",
      "true",
      "--check",
      "test -f made",
      "--confirm",
      "1",
      ...HIDDEN,
    ]).result;
    expect({ code, again: stdout.match(/The checks run again/g)?.length }).toEqual({ code: 0, again: 2 });
    const { predicate } = JSON.parse(readFileSync(join(p.runFolder(), "receipt.json"), "utf8"));
    expect(predicate.passedTests).toEqual(["true", "test -f made", "hidden check 1"]);
    const { iterations } = JSON.parse((await p.ralph("report", "--json")).stdout);
    expect(iterations[0].checks.map(({ command }: { command: string }) => command)).toEqual(
      predicate.passedTests,
    );
  });

  it("keeps a story from being approved", async () => {
    const p = storiesProject(tasks(story("US-001")));
    const mend = { ...FIX, bash: `${HUNT}; touch made; ${FIX.bash}` };
    p.agent([IMPLEMENT, APPROVE, REJECT, mend, APPROVE]);
    const { code, stdout } = await p.start(["stories", "run", "-n", "5", ...HIDDEN, "--json"]).result;
    expect(p.prompt(2)).toContain("A hidden check failed: hidden check 1.");
    for (const text of [found(p), p.prompt(2), p.prompt(3), stdout]) expect(text).not.toContain(SECRET);
    expect({ code, calls: p.calls() }).toEqual({ code: 0, calls: 5 });
  });

  it("is the last word on the last state of a pipeline", async () => {
    const p = claudeProject(...STEPS);
    p.write("s.md", "A spec.\n");
    p.write(".ralph/pipeline.yaml", YAML);
    p.sh("git add -A && git commit -qm spec");
    const { code, events } = await p.start(["pipeline", "run", "s.md", ...HIDDEN, "--json"]).result;
    const gates = events.flatMap((event) =>
      event.type === "gate.finished" ? [`${event.state} ${event.passed}`] : [],
    );
    expect(gates.slice(0, 2)).toEqual(["A true", "B false"]);
    expect(code).toBe(0);
    expect(found(p)).not.toContain(SECRET);
    expect(p.prompt(1)).toContain("A hidden check failed: hidden check 1.");
  });

  it("is given again to a run that goes on, because ralph keeps no copy of it", async () => {
    const p = claudeProject({ text: DONE }, { bash: `${HUNT}; touch made`, text: DONE });
    const first = await p.start(["run", "-p", "x", "-n", "1", ...HIDDEN, "--json"]).result;
    expect(existsSync(hiddenLog(p))).toBe(true);
    const { run } = first.finished;
    const without = await p.ralph("resume", run, "-n", "2");
    expect(without).toMatchObject({ code: 2, stdout: "" });
    expect(without.stderr).toContain(
      `run ${run} needs the command of hidden check 1, which ralph stores in no file`,
    );
    const other = await p.ralph("resume", run, "-n", "2", ...HIDDEN, "--hidden-check", "true");
    expect(other).toMatchObject({ code: 2, stdout: "" });
    const again = await p.start(["resume", run, "-n", "2", ...HIDDEN]).result;
    expect(again.code).toBe(0);
    expect(found(p)).not.toContain(SECRET);
  });

  it("leaves nothing that the agent of a later run finds", async () => {
    const p = claudeProject({ text: DONE }, { bash: `${HUNT}; touch made`, text: DONE });
    const run = (): Promise<{ code: number | null }> =>
      p.start(["run", "-p", "x", "-n", "1", ...HIDDEN]).result;
    expect(await run()).toMatchObject({ code: 1 });
    expect(await run()).toMatchObject({ code: 0 });
    expect(found(p)).not.toContain(SECRET);
  });

  it("is not seen by what an agent left, not even by what dropped its environment and its parent", async () => {
    const look = 'while :; do cat /proc/[0-9]*/cmdline >> "$0"; sleep 0.01; done 2> /dev/null';
    const p = claudeProject({
      bash: `touch made; (env -i setsid sh -c '${look}' "$HOME/found" > /dev/null 2>&1 & echo $! > "$HOME/pid")
        until test -s "$HOME/found"; do sleep 0.02; done`,
      text: DONE,
    });
    const script = p.write("../SecretScript.sh", "sleep 0.3; test -f made");
    const { code } = await p.start(["run", "-p", "x", "--hidden-check", `sh ${script}`]).result;
    p.sh('kill "$(cat "$HOME/pid")"');
    expect({ code, isSeen: found(p).includes("SecretScript") }).toEqual({ code: 0, isSeen: false });
  });

  it("is not seen by the agent of another lane, which stands still meanwhile", async () => {
    const p = claudeProject();
    const script = p.write("../SecretScript.sh", "sleep 0.3; test -f made");
    const finish = "touch made; git add -A; git commit -qm made; echo COMPLETE";
    p.program(
      "quick",
      `#!/bin/bash\ncat > /dev/null\nuntil test -s $HOME/found; do sleep 0.02; done\n${finish}`,
    );
    p.program(
      "watcher",
      `#!/bin/bash\ncat > /dev/null\nuntil grep -q '"hidden":true.*"passed":true' $RALPH_HOME/runs/*/journal.ndjson; do cat /proc/[0-9]*/cmdline >> $HOME/found 2> /dev/null; done\n${finish}`,
    );
    p.sh("git add -A; git commit -qm settings");
    const lanes = ["--agent", "quick", "--agent", "watcher", "--all", "--check", "test -f made"];
    const { code, finished } = await p.start([
      "race",
      "x",
      ...lanes,
      "--hidden-check",
      `sh ${script}`,
      "--json",
    ]).result;
    expect({ code, lanes: finished.lanes?.length }).toEqual({ code: 0, lanes: 2 });
    expect(found(p)).not.toContain("SecretScript");
    const receipt = JSON.parse(readFileSync(finished.receipt ?? "", "utf8"));
    expect(receipt.predicate.passedTests).toEqual(["test -f made", "hidden check 1"]);
    expect(await p.ralph("verify")).toMatchObject({ code: 0 });
  });

  it("may be of the settings and have a name; where agents can read them, ralph warns", async () => {
    const p = claudeProject({ text: DONE }, { bash: "touch made", text: DONE });
    const hiddenChecks = [{ name: "edge cases", command: CHECK }];
    p.write("../home/.ralph/settings.json", JSON.stringify({ hiddenChecks }));
    const { code, stderr } = await p.ralph("run", "-p", "x", "-n", "2");
    expect({ code, stderr: stderr.includes("hiddenChecks") }).toEqual({ code: 0, stderr: false });
    expect(p.prompt(2)).toContain("A hidden check failed: edge cases.");
    p.settings({ agent: { command: "claude" }, hiddenChecks });
    expect((await p.ralph("run", "-p", "x", "-n", "1")).stderr).toContain(
      "hiddenChecks are in .ralph/settings.json, where agents can read them",
    );
  });
});

it("has a unique name", async () => {
  const p = claudeProject({ text: DONE });
  const hiddenChecks = ["true", "test -d ."].map((command) => ({ name: "same", command }));
  p.settings({ agent: { command: "claude" }, hiddenChecks });
  expect(await p.ralph("run", "-p", "x")).toMatchObject({
    code: 2,
    stderr: "ralph: error: hiddenChecks same: expected a unique name\n",
  });
});

it("hides the files of hidden checks from a sandbox, with what lies beside them, and no programs of the system", async () => {
  const p = createProject();
  p.write("../home/settings.json", "{}");
  p.write(".ralph/settings.local.json", '{"hiddenChecks":["true"]}');
  p.settings({ hiddenChecks: ["true"] });
  p.sh("git add -f .ralph/settings.json; git commit -qm settings");
  const own = p.write("inside.sh", "");
  p.write("../apart/check.sh", "");
  p.write("../beside.sh", "");
  const commands = [
    "sh ../apart/check.sh --deep",
    `/usr/bin/env sh ${own}`,
    `test -f /nowhere/at-all; sh ${p.root}/beside.sh`,
  ];
  const checks = commands.map((command) => ({ name: command, command, timeoutMs: 1 }));
  const where = { home: p.home, ralphHome: p.home, needed: [] };
  expect(await hiddenFiles(checks, { workspace: p.dir }, where)).toEqual([
    join(p.home, "settings.json"),
    join(p.dir, ".ralph/settings.local.json"),
    join(p.root, "apart"),
    join(p.root, "beside.sh"),
  ]);
  expect(await hiddenFiles([], { workspace: p.dir }, where)).toEqual([]);
});

describe("--require-witness", () => {
  it("succeeds where a check went from red to green, and says which", async () => {
    const p = claudeProject({ bash: "touch made", text: DONE });
    const args = ["--check", "test -f made", "--check", "true"];
    const { code, stdout } = await p.ralph("run", "-p", "x", "--require-witness", ...args);
    expect(code).toBe(0);
    expect(stdout).toContain("  witness    red→green: test -f made; green→green: true\n");
    const { baseline } = JSON.parse((await p.ralph("report", "--json")).stdout) as { baseline: unknown };
    expect(baseline).toEqual([
      { command: "test -f made", before: false, now: true, witness: "red→green" },
      { command: "true", before: true, now: true, witness: "green→green" },
    ]);
    const receipt = readFileSync(join(p.runFolder(), "receipt.json"), "utf8");
    expect(receipt.match(/"witness": .*/g)).toEqual(['"witness": "red→green"', '"witness": "green→green"']);
  });

  it("fails where no check had failed before, and names them", async () => {
    const p = claudeProject({ text: DONE });
    const args = ["--check", "true", "--require-witness", "-n", "5", "--json"];
    const { code, finished } = await p.ralph("run", "-p", "x", ...args);
    expect({ code, calls: p.calls(), reason: finished.reason }).toEqual({
      code: 1,
      calls: 1,
      reason: "stuck",
    });
    expect(finished.message).toBe(
      "no check went from red to green (--require-witness): these never failed: true",
    );
  });
});
