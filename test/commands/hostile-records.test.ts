import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createProject, type Project } from "../kit.js";

const FORMS = [[], ["--json"], ["--markdown"], ["--html", "-"]];

async function ran(): Promise<Project> {
  const p = createProject();
  p.agent([
    { text: "no" },
    { text: "no", bash: "touch a" },
    { text: "<response>DONE</response>", bash: "touch ok" },
  ]);
  await p.ralph("run", "-p", "x", "--agent", "claude", "--check", "test -f ok");
  return p;
}

const journalOf = (p: Project) => join(p.runFolder(), "journal.ndjson");

function editJournal(p: Project, edit: (events: Record<string, unknown>[]) => unknown[]): void {
  const events = readFileSync(journalOf(p), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const lines = edit(events).map((event) => (typeof event === "string" ? event : JSON.stringify(event)));
  writeFileSync(journalOf(p), `${lines.join("\n")}\n`);
}

async function expectNoBug(p: Project): Promise<void> {
  for (const form of FORMS) {
    const { code, all } = await p.ralph("report", ...form);
    expect({ form, code, bug: /bug in ralph|NaN|undefined|\[object/.test(all) && all }).toEqual({
      form,
      code: 0,
      bug: false,
    });
  }
}

describe("records that were damaged", () => {
  it("lose what is damaged, and say so, wherever it stands", async () => {
    const p = await ran();
    editJournal(p, (events) => {
      const second = events.findLastIndex(
        (event) => event["type"] === "iteration.started" && event["iteration"] === 2,
      );
      return events.map((event, index) => (index === second ? '{"v":1,"type":"iteration.st' : event));
    });
    const { stdout, stderr } = await p.ralph("report", "--json");
    expect(stderr).toMatch(
      /^ralph: warning: the journal of run \S+ has 1 unreadable lines, which are left out\n$/,
    );
    const { iterations } = JSON.parse(stdout) as { iterations: { iteration: number; checks: unknown[] }[] };
    expect(iterations.map(({ iteration, checks }) => [iteration, checks.length])).toEqual([
      [1, 1],
      [2, 1],
      [3, 1],
    ]);
  });

  it("are no reason to fail, and may name a reason of a later release", { timeout: 240_000 }, async () => {
    const p = await ran();
    const whole = readFileSync(journalOf(p), "utf8");
    const later = ["quota_exhausted", "__proto__"].map(
      (reason) => ["run.finished", { success: false, exitCode: 1, reason }] as const,
    );
    for (const [type, change] of [
      ["agent.event", { event: undefined }],
      ["agent.event", { event: "x" }],
      ["iteration.finished", { totals: undefined }],
      ["iteration.finished", { totals: { costUsd: "x" } }],
      ["check.finished", { command: undefined }],
      ["run.finished", { files: {} }],
      ["agent.finished", { costUsd: "much" }],
      ["iteration.finished", { durationMs: null }],
      ...later,
    ] as const) {
      writeFileSync(journalOf(p), whole);
      editJournal(p, (events) =>
        events.map((event) => (event["type"] === type ? { ...event, ...change } : event)),
      );
      await expectNoBug(p);
      expect([type, (await p.ralph("runs")).code]).toEqual([type, 0]);
    }
    expect((await p.ralph("report")).stdout).toContain("❌ Stopped: __proto__\n");
  });

  it("may hold events of a later release, which are passed over", async () => {
    const p = await ran();
    editJournal(p, (events) => [
      ...events,
      { v: 1, type: "dream.started", ts: "2026-01-01T00:00:00Z", run: "r" },
    ]);
    expect((await p.ralph("report")).stderr).toBe("");
    editJournal(p, (events) => [
      ...events,
      { v: 2, type: "run.paused", ts: "2026-01-01T00:00:00Z", run: "r" },
    ]);
    expect((await p.ralph("report")).stderr).toContain("1 unreadable lines");
  });

  it.each([
    ["no workspace", { workspace: undefined }, "cannot be read"],
    ["a recipe of another kind", { recipe: 7 }, "cannot be read"],
    ["a later version", { v: 2 }, "comes from a newer ralph"],
  ])("do not take the others down: a spec with %s", async (_, change, words) => {
    const p = await ran();
    const broken = join(p.runFolder(), "spec.json");
    const spec = JSON.parse(readFileSync(broken, "utf8")) as object;
    await p.ralph("run", "-p", "x", "--agent", "claude");
    writeFileSync(broken, JSON.stringify({ ...spec, ...change }));
    const { code, stdout, stderr } = await p.ralph("runs", "--json");
    expect([code, (JSON.parse(stdout) as { status: string }[]).map(({ status }) => status)]).toEqual([
      0,
      ["damaged", "finished"],
    ]);
    expect(stderr).toContain(words);
  });

  it("are not waited for when they are pipes", async () => {
    const p = await ran();
    p.sh(`rm ${journalOf(p)} && mkfifo ${journalOf(p)}`);
    const { code, stderr } = await p.ralph("report");
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `ralph: error: cannot read ${journalOf(p)}: it is not a plain file (put a file in its place, or remove it)\n`,
    });
    p.sh("mkdir -p .ralph && mkfifo .ralph/settings.json");
    expect((await p.ralph("config")).stderr).toContain(
      "settings file .ralph/settings.json: it is not a plain file",
    );
    expect((await p.ralph("doctor")).code).toBe(1);
  });
});

describe("what is shown", () => {
  const ESCAPE = "\u001b]0;pwned\u0007";

  it("does not steer the terminal: folders, settings, names", async () => {
    const p = createProject();
    p.agent([{ text: "<response>DONE</response>" }]);
    p.sh(`mkdir "$(printf 'w\\033]0;pwned\\007\\nx')"`);
    const odd = readdirSync(p.dir).find((name) => name.startsWith("w")) as string;
    await p.ralphWith({ cwd: join(p.dir, odd) }, "run", "-p", `go ${ESCAPE}`, "--agent", "claude");
    p.settings({ agents: { [ESCAPE]: { command: "claude" } } });
    const outputs = [
      await p.ralph("runs"),
      await p.ralph("config"),
      await p.ralph("run", "-p", "x", "--agent", `no${ESCAPE}\nagent`),
      await p.ralph("report", `no${ESCAPE}run`),
      await p.ralphWith({ cwd: join(p.dir, odd) }, "report"),
    ];
    for (const { all } of outputs) expect(all).not.toContain("\u001b");
    expect(outputs[2]?.stderr.split("\n")).toHaveLength(2);
  });

  it("holds no secret, also in errors", async () => {
    const p = createProject();
    const token = `ghp_${"a1B2".repeat(9)}`;
    p.settings({ agent: { command: "cat", env: `KEY=${token}` } });
    for (const command of ["config", "doctor"]) expect((await p.ralph(command)).all).not.toContain(token);
    p.settings({ agent: { command: "cat", env: { KEY: ["plain-secret-value"] } } });
    expect((await p.ralph("config")).stderr).toBe(
      "ralph: error: .ralph/settings.json: agent.env.KEY has a value of the wrong kind (object): expected a string\n",
    );
  });

  it("keeps secrets out of the names of logs, and names logs that are there", async () => {
    const p = createProject();
    p.agent([{ text: "no" }]);
    const env = { FOO_API_KEY: "foofoofoofoo1234" };
    const run = p.start(
      ["run", "-p", "x", "-n", "1", "--agent", "claude", "--check", "echo foofoofoofoo1234; false", "--json"],
      { env },
    );
    const { events } = await run.result;
    const check = events.find((event) => event.type === "check.finished");
    expect(check?.type === "check.finished" && existsSync(join(p.dir, check.log))).toBe(true);
    expect(readdirSync(join(p.dir, ".ralph")).join()).not.toContain("foofoo");
  });

  it("does not put secrets back for a report", async () => {
    const p = createProject();
    p.agent([{ text: "<response>DONE</response>" }]);
    p.sh("mkdir very-secret-folder");
    const more = { env: { MY_TOKEN: "very-secret-folder" }, cwd: join(p.dir, "very-secret-folder") };
    await p.ralphWith(more, "run", "-p", "x", "--agent", "claude");
    for (const args of [["report"], ["report", "--json"], ["runs", "--json"]]) {
      expect((await p.ralphWith(more, ...args)).all).not.toContain("very-secret-folder");
    }
  });
});

describe("settings of one file", () => {
  it("may leave to the other what is required", async () => {
    const p = createProject();
    p.settings({ agents: { quick: { command: "claude" } } });
    p.write(".ralph/settings.local.json", '{"agents":{"quick":{"model":"haiku"}}}');
    expect((await p.ralph("config")).code).toBe(0);
  });

  it.each(["constructor", "__proto__", "toString"])("have no profile called %s", async (name) => {
    const p = createProject();
    p.settings({ agents: { quick: { command: "claude" } } });
    const { code, stderr } = await p.ralph("run", "-p", "x", "--agent", name);
    expect(code).toBe(2);
    expect(stderr).toContain(`agent not found: ${name}`);
  });
});
