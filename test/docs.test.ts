import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { onGitHub } from "./github/kit.js";
import { createProject, eventually, type Project } from "./kit.js";
import { runWarm } from "./warm-ralph.js";
import { serverOf } from "./workers/kit.js";

const ROOT = join(import.meta.dirname, "..");
const BIN = join(ROOT, "bin/ralph.js");
/** Done, in the words of every recipe. */
const ANSWER = "<response>DONE</response>\nCOMPLETE";
const CODEX_SAYS = [
  { type: "item.completed", item: { id: "1", type: "agent_message", text: ANSWER } },
  { type: "turn.completed" },
];
const PAGES = [
  "README.md",
  "CONTRIBUTING.md",
  "AGENTS.md",
  ...readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];
const SCRIPTS = (
  JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: Record<string, string> }
).scripts;

/** Commands in `sh` blocks, without what a comment says of them. */
function commandsIn(page: string): string[] {
  const text = readFileSync(join(ROOT, page), "utf8");
  const blocks = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block]) =>
    (block ?? "").split("\n"),
  );
  return blocks.map((line) => line.replace(/ +# .*$/, "").trim()).filter((line) => line !== "");
}

/** What `--help` says of a command, and of the commands that it has. */
const HELP = new Map<string, string>();

async function readHelp(name: string): Promise<void> {
  const args = name === "" ? [] : name.split(" ");
  const asked = [...args, "--help"];
  const ended = await runWarm({ args: asked, env: process.env, cwd: ROOT });
  const text = ended?.stdout ?? spawnSync(process.execPath, [BIN, ...asked], { encoding: "utf8" }).stdout;
  HELP.set(name, text);
  const [, listed = ""] = text.split(/^(?:Commands|Start):$/m);
  for (const [, inner] of listed.matchAll(/^ {2}(\w+)(?= [[< ])/gm))
    await readHelp([...args, inner].join(" "));
}
await readHelp("");

const help = (name: string): string => HELP.get(name) ?? "";
/** With the commands of those that have some, such as `stories run`. */
const ALL_COMMANDS = [...HELP.keys()].filter((name) => name !== "");
/** Commands of ralph itself. */
const COMMANDS = ALL_COMMANDS.filter((name) => !name.includes(" "));

function examplesOf(command: string): string[] {
  const [, examples = ""] = help(command).split("Examples:\n");
  return examples.split("\n").map((line) => line.trim());
}

const shown = [
  ...PAGES.flatMap((page) => commandsIn(page).map((line) => [page, line] as const)),
  ...["", ...ALL_COMMANDS].flatMap((name) =>
    examplesOf(name).map((line) => [`ralph ${name} --help`, line] as const),
  ),
];
const lines = new Map(
  shown.filter(([, line]) => line.startsWith("ralph ")).map(([place, line]) => [line, place]),
);

/** A project in which every command of the documentation makes sense. */
function projectForDocs(): Project {
  const p = createProject();
  p.write("PROMPT.md", "go");
  p.write("SPEC.md", "go");
  p.write("package.json", '{"scripts":{"test":"true","lint":"true"}}');
  p.agent([{ text: ANSWER }]);
  p.agent([{ onlyRaw: true, raw: CODEX_SAYS }], { name: "codex" });
  // The real one takes longer to start than all else here.
  p.program("npm", "#!/bin/sh\nexit 0\n");
  p.program("my-agent", `#!/bin/sh\ncat > /dev/null\necho '${ANSWER}'\n`);
  p.program("ralph", `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`);
  // The scripted agent counts its calls outside of the project.
  p.settings({ agent: { command: "claude" }, sandbox: { kind: "none" } });
  p.sh("git add . && git commit -qm docs");
  return p;
}

/** Without a shell and a process of its own where the line needs neither. */
async function execute(p: Project, line: string): Promise<{ code: number | null; output: string }> {
  if (!/^ralph (?:[\w./:=-]+|"[^"$`\\]*")(?: (?:[\w./:=-]+|"[^"$`\\]*"))*$/.test(line)) return shell(p, line);
  const words = [...line.matchAll(/"([^"]*)"|([^ "]+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? "");
  const { code, all } = await p.ralph(...words.slice(1));
  return { code, output: all };
}

function shell(p: Project, line: string, input = ""): { code: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync("bash", ["-c", line], {
    cwd: p.dir,
    env: p.env,
    input,
    encoding: "utf8",
  });
  return { code: status, output: stdout + stderr };
}

/** Moves a story one step, as an agent would. */
const MOVE_STORY = `#!/usr/bin/env node
const { execSync } = require("node:child_process");
const { readFileSync, writeFileSync } = require("node:fs");
const tasks = JSON.parse(readFileSync("ralph/tasks.json"));
const [story] = tasks.userStories;
const { skipReview } = JSON.parse(readFileSync(".ralph-active"));
const waits = story.reviewStatus === "needs_review";
Object.assign(story, { notes: "done", passes: skipReview || waits });
if (waits) Object.assign(story, { reviewStatus: "approved", reviewCount: 1 });
else if (!skipReview) story.reviewStatus = "needs_review";
writeFileSync("ralph/tasks.json", JSON.stringify(tasks));
execSync("git add -A && git commit -qm move");
`;

/** The worker that the documentation talks about, with the terminal of its window. */
async function spawnWorker(p: Project, line = ""): Promise<void> {
  serverOf(p);
  // Without a name, a command takes the one that there is.
  const name = line.includes(" tidy") ? "tidy" : "docs";
  const agent = ["sh", "-c", "echo ready; exec sleep 60"];
  await p.ralph("spawn", "--name", name, "--prompt-file", "PROMPT.md", "-n", "9", "--", ...agent);
  const screen = join(p.env["RALPH_HOME"] as string, "workers", name, "output.log");
  await eventually(() => existsSync(screen) && readFileSync(screen, "utf8").includes("ready"));
}

/** Those that need a terminal, an engine or a browser have tests of their own, as `ralph demo` has. */
const isElsewhere = (line: string): boolean =>
  /^ralph (?:watch|attach docs|pause|demo(?: --keep)?)$|^ralph (?:ui|fleet)\b/.test(line);

/** Commands whose lines share a project: they look, or leave nothing behind that the next one minds. */
const SHARED = [
  ["ls", "status", "logs", "steer"],
  ["diff", "report", "runs", "costs", "worktrees", "verify"],
  ["config", "guard", "help", "completion", "template", "hook", "doctor", "gate"],
  ["run"],
  ["loop"],
  ["race"],
  ["intake"],
  ["wait"],
  ["costs"],
];

/** The lines that one project is for, by its name. */
function projects(): [name: string, lines: string[]][] {
  const all = new Map<string, string[]>();
  for (const line of lines.keys()) {
    const [, command = ""] = line.split(" ");
    const shared = SHARED.find((commands) => commands.includes(command) && !line.includes("--issue"));
    const name = shared === undefined ? line : `ralph ${shared.join(", ")}`;
    if (!isElsewhere(line)) all.set(name, [...(all.get(name) ?? []), line]);
  }
  return [...all];
}

const EXAMPLES = [
  "specs/recipe-saver.md",
  "PRPs/recipe-saver.prp.md",
  "tests/test_extraction.py",
  "recipes.py",
];
const example = (file: string): string => join(ROOT, "examples/recipe-saver", file);

function exampleIn(p: Project, file: string): void {
  p.write(file, readFileSync(example(file), "utf8"));
}

async function finishedRun(p: Project): Promise<void> {
  p.agent([{ bash: "echo a > a.txt", text: ANSWER }]);
  await p.ralph("loop", "x", "--check", "true", "--worktree", "--name", "calm-otter");
}

/** What has to be there before a command can be shown at work. */
const BEFORE: Record<string, (p: Project, line: string) => Promise<void> | void> = {
  spawn: (p) => void serverOf(p),
  ls: (p) => spawnWorker(p),
  send: (p, line) => spawnWorker(p, line),
  interrupt: (p, line) => spawnWorker(p, line),
  kill: (p, line) => spawnWorker(p, line),
  clean: (p, line) => (line.includes("--worktrees") ? finishedRun(p) : spawnWorker(p, line)),
  pause: (p, line) => spawnWorker(p, line),
  async wait(p) {
    serverOf(p);
    await p.ralph("spawn", "--name", "docs", "--prompt-file", "PROMPT.md", "-n", "1", "--", "true");
  },
  async stories(p, line) {
    p.program("move-story", MOVE_STORY);
    p.agent([{ bash: "move-story", text: ANSWER }]);
    p.agent([{ bash: "move-story", onlyRaw: true, raw: CODEX_SAYS }], { name: "codex" });
    const story = { id: "US-001", title: "t", acceptanceCriteria: ["c"], priority: 1, passes: false };
    p.write("prd.json", JSON.stringify({ userStories: [story] }));
    if (line.includes("--github")) onGitHub(p).issue(3, { labels: ["ready"] });
    p.write("TODO.md", "- [ ] Add a cart\n  - it stays\n");
    if (!/ init| import/.test(line)) await p.ralph("stories", "import", "prd.json");
    p.sh("git add -A && git commit -qm stories");
    if (line.includes(" plan")) p.program("claude", "#!/bin/sh\necho planned\n");
  },
  async pipeline(p, line) {
    exampleIn(p, "specs/recipe-saver.md");
    if (!line.includes(" init")) p.write(".ralph/pipeline.yaml", "states: { A: { command: test -f ok } }\n");
    p.agent([{ bash: "touch ok", text: "written" }]);
    p.sh("git add -A && git commit -qm spec");
    // Without a retry no agent makes it pass, so that there is something to go on with.
    const args = ["pipeline", "run", "specs/recipe-saver.md", "--max-gate-retries", "0", "-q"];
    if (/ status| resume/.test(line)) await p.ralph(...args);
    if (line.includes(" resume")) p.write("ok", "");
  },
  config(p) {
    for (const file of EXAMPLES) exampleIn(p, file);
  },
  async resume(p, line) {
    if (line.includes(" docs")) {
      await spawnWorker(p);
      return void (await p.ralph("pause", "docs"));
    }
    // A run that stopped early, and an agent that does better the next time.
    const script = `test -f tried && echo '${ANSWER}' || { touch tried; exit 1; }`;
    p.program("late", `#!/bin/sh\ncat > /dev/null\n${script}\n`);
    await p.ralph("run", "-p", "x", "--agent", "late", "--max-failures", "1");
  },
  async answer(p, line) {
    p.agent([{ text: "<promise>DECIDE: which one?</promise>" }]);
    await p.ralph("run", "-p", "x", "--name", "calm-otter");
    const [, id] = / (\d{8}-\S+)/.exec(line) ?? [];
    if (id !== undefined) renameSync(p.runFolder(), join(p.runFolder(), "..", id));
  },
  async pr(p, line) {
    if (line.startsWith("ralph pr")) onGitHub(p);
    p.program("mends", `#!/bin/sh\ncat > /dev/null\necho a > a.txt\necho '${ANSWER}'\n`);
    const args = ["--agent", "mends", "--check", "true", "--worktree", "--name", "calm-otter"];
    await p.ralph("loop", "x", ...args);
  },
  intake: (p) => void onGitHub(p),
  async follow(p, line) {
    const hub = onGitHub(p);
    await BEFORE["pr"]?.(p, line);
    await p.ralph("pr");
    hub.change(({ pulls }) => void Object.assign(pulls[0] as object, { state: "closed", merged: true }));
  },
  loop(p, line) {
    if (line.includes("--issue")) onGitHub(p).issue(12);
    p.agent([{ bash: "echo a > a.txt", text: ANSWER }]);
  },
  diff: finishedRun,
  async land(p) {
    await finishedRun(p);
    p.sh("git branch develop");
  },
  init(p, line) {
    if (line.includes("--prompt") && !line.includes("--force")) rmSync(join(p.dir, "PROMPT.md"));
  },
};

describe("the commands of the documentation and of --help", () => {
  it("are there for every command", () => {
    expect(COMMANDS).toEqual(expect.arrayContaining(["run", "resume", "demo", "init", "doctor", "report"]));
    const without = ALL_COMMANDS.filter((name) => !examplesOf(name).some((line) => line !== ""));
    expect(without).toEqual([]);
    const undocumented = ALL_COMMANDS.filter(
      (name) =>
        !PAGES.some(
          (page) =>
            page.startsWith("docs/") && commandsIn(page).some((line) => line.startsWith(`ralph ${name}`)),
        ),
    );
    expect(undocumented).toEqual(["help"]);
  });

  it.each(projects())("%s", async (name, all) => {
    const p = projectForDocs();
    const [, command = ""] = name.split(/\W+/);
    await BEFORE[command]?.(p, all[0] as string);
    for (const line of all) {
      // The wizard wants a terminal, and is content with its defaults and an agent.
      const asks = line === "ralph init" || line === "ralph stories plan";
      const result = asks
        ? shell(p, `script -qec "${line}" /dev/null`, "y\nclaude\n\n\n\n\n\n\n")
        : await execute(p, line);
      expect.soft(result, `${line} (${lines.get(line)})`).toMatchObject({ code: 0 });
    }
  });

  it.each([...lines.keys()].filter((line) => line.startsWith("ralph ui")))("%s", async (line) => {
    const ui = projectForDocs().start(line.split(" ").slice(1));
    // Another program of this machine may have that port.
    await ui.until((text) => /\/enter\/|is taken/.test(text));
    ui.child.kill("SIGINT");
    const { code, all } = await ui.result;
    expect(code).toBe(/\/enter\//.test(all) ? 0 : 2);
  });

  it("ralph pause", async () => {
    const p = projectForDocs();
    p.program("slow", "#!/bin/sh\ncat > /dev/null\nsleep 1\necho no\n");
    const run = p.start(["run", "-p", "x", "--agent", "slow", "-n", "9", "--json"]);
    await run.until((output) => output.includes('"agent.started"'));
    expect(shell(p, "ralph pause")).toMatchObject({ code: 0 });
    await run.until((output) => output.includes('"run.paused"'));
    expect(shell(p, "ralph resume")).toMatchObject({ code: 0 });
    run.child.kill("SIGKILL");
  });

  it("of npm exist as scripts", () => {
    const named = PAGES.flatMap((page) => [
      ...readFileSync(join(ROOT, page), "utf8").matchAll(/npm run ([\w:-]+)/g),
    ]);
    for (const [, script] of named) expect(Object.keys(SCRIPTS)).toContain(script);
  });
});

describe("the flags of the documentation", () => {
  const flagsIn = (text: string) => [...new Set([...text.matchAll(/--[a-z][a-z-]+/g)].map(([flag]) => flag))];
  const pages = PAGES.filter((page) => page.startsWith("docs/")).map((page) =>
    readFileSync(join(ROOT, page), "utf8"),
  );

  it.each(ALL_COMMANDS)("hold every flag of ralph %s", (name) => {
    const undocumented = flagsIn(help(name)).filter(
      (flag) => flag !== "--help" && !pages.join().includes(flag),
    );
    expect(undocumented).toEqual([]);
  });

  it("are flags of ralph, where a command of ralph is shown", () => {
    const known = new Set(["", ...ALL_COMMANDS].flatMap((name) => flagsIn(help(name))));
    const shownFlags = [...lines.keys()].flatMap((line) => flagsIn(line.replace(/"[^"]*"/g, "")));
    expect(shownFlags.filter((flag) => !known.has(flag))).toEqual([]);
  });

  it("has the default settings that the program has", async () => {
    const { DEFAULTS } = await import("../src/settings/limits.js");
    const blocks = [
      ...readFileSync(join(ROOT, "docs/guides/run.md"), "utf8").matchAll(/```json\n([\s\S]*?)```/g),
    ];
    const { validate } = await import("../src/settings/validate.js");
    const parsed = blocks.map(([, text]) => JSON.parse(text ?? "") as Record<string, unknown>);
    for (const content of parsed) expect(() => validate([{ name: "docs", content }])).not.toThrow();
    const { checks: _, ...defaults } = DEFAULTS;
    expect(parsed.at(-1)).toMatchObject(defaults);
  });
});

describe("docs/reference/events.md", () => {
  it("names every field that an event carries", async () => {
    const p = createProject();
    p.settings({ agent: { command: "claude" }, scm: { command: "git", tasks: ["commit"] } });
    const limit = {
      type: "rate_limit_event",
      rate_limit_info: { status: "allowed", resetsAt: 1, rateLimitType: "x", isUsingOverage: false },
    };
    const steps = [
      { exit: 1 },
      { text: "no", bash: "touch a" },
      { raw: [limit, "garbage"], bash: "touch ok", text: "<response>DONE</response>" },
    ];
    p.agent(steps, { commit: "Add a" });
    const { events } = await p.ralph("run", "-p", "x", "--check", "test -f ok", "--json");
    const page = readFileSync(join(ROOT, "docs/reference/events.md"), "utf8");
    const rowOf = (type: string) =>
      page.split("\n").find((line) => line.startsWith("|") && line.includes(`\`${type}\``)) ?? "";
    const missing = events.flatMap(({ v: _v, ts: _ts, run: _run, type, ...fields }) => {
      const own = Object.keys(fields).filter((field) => !rowOf(type).includes(field));
      const said = type === "agent.event" && "event" in fields ? Object.entries(fields.event) : [];
      const kind = said.find(([name]) => name === "type")?.[1] as string;
      return [
        ...own,
        ...said.map(([name]) => name).filter((name) => name !== "type" && !rowOf(kind).includes(name)),
      ].map((field) => `${type}.${field}`);
    });
    expect(new Set(events.map(({ type }) => type)).size).toBe(11);
    expect([...new Set(missing)]).toEqual([]);
  });
});

/** The headings of a page as GitHub links to them. */
function anchorsOf(file: string): string[] {
  const headings = [...readFileSync(file, "utf8").matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) => title);
  return headings.map((title) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

describe("the pages", () => {
  it.each(PAGES)("%s links to files that are there", (page) => {
    const text = readFileSync(join(ROOT, page), "utf8");
    const links = [...text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
    const missing = links.filter(([, link, heading]) => {
      const target = link === "" ? join(ROOT, page) : join(ROOT, dirname(page), link as string);
      return !existsSync(target) || (heading !== undefined && !anchorsOf(target).includes(heading));
    });
    expect(missing.map(([link]) => link)).toEqual([]);
  });

  it("are all named in the index, which the README names", () => {
    const index = readFileSync(join(ROOT, "docs/README.md"), "utf8");
    const pages = PAGES.filter((page) => page.startsWith("docs/") && page !== "docs/README.md");
    expect(pages.filter((page) => !index.includes(`](${page.slice("docs/".length)})`))).toEqual([]);
    expect(readFileSync(join(ROOT, "README.md"), "utf8")).toContain("](docs/README.md)");
  });

  it("are read from a README of at most 150 lines", () => {
    expect(readFileSync(join(ROOT, "README.md"), "utf8").split("\n").length).toBeLessThanOrEqual(151);
  });

  it("quote messages that ralph has", () => {
    const text = readFileSync(join(ROOT, "docs/guides/troubleshooting.md"), "utf8");
    const quoted = [...text.matchAll(/^\| `([^`]+)`[^|]*\|/gm)].flatMap(([, message]) =>
      (message ?? "").split("…"),
    );
    const sources = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => readFileSync(join(ROOT, "src", name), "utf8"))
      .join("\n");
    const unknown = quoted.map((piece) => piece.trim()).filter((piece) => !sources.includes(piece));
    expect(quoted.length).toBeGreaterThan(10);
    expect(unknown).toEqual([]);
  });
});
