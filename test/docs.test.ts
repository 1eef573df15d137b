import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { splitWords } from "../src/words.js";
import { createProject } from "./kit.js";

const ROOT = join(import.meta.dirname, "..");
const PAGES = [
  "README.md",
  "CONTRIBUTING.md",
  "AGENTS.md",
  ...readdirSync(join(ROOT, "docs")).map((name) => `docs/${name}`),
];
const SCRIPTS = (
  JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: Record<string, string> }
).scripts;

/** Commands in `sh` blocks, and those that are named in the text. */
function commandsIn(page: string): string[] {
  const text = readFileSync(join(ROOT, page), "utf8");
  const blocks = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block]) =>
    (block ?? "").split("\n"),
  );
  return blocks.map((line) => line.trim()).filter((line) => line !== "");
}

const ralphCommands = PAGES.flatMap((page) =>
  commandsIn(page)
    .filter((line) => line.startsWith("ralph "))
    .map((line) => [page, line] as [string, string]),
);

describe("the commands of the documentation", () => {
  it("are there", () => {
    expect(ralphCommands.length).toBeGreaterThan(10);
  });

  it.each(ralphCommands)("%s: %s", async (_, line) => {
    const p = createProject();
    p.write("PROMPT.md", "go");
    p.write("package.json", '{"scripts":{"test":"true"}}');
    const answer = "<response>DONE</response>";
    p.agent([{ text: answer }]);
    const said = { type: "item.completed", item: { id: "1", type: "agent_message", text: answer } };
    p.agent([{ onlyRaw: true, raw: [said] }], { name: "codex" });
    p.program("my-agent", `#!/bin/sh\ncat > /dev/null\necho '${answer}'\n`);
    p.settings({ agent: { command: "claude" } });
    const [, command = "", ...args] = splitWords(line);
    if (command === "pause") {
      // There has to be a run that can be paused.
      p.program("slow", "#!/bin/sh\ncat > /dev/null\ntouch started\nsleep 1\necho no\n");
      const run = p.start(["run", "-p", "x", "--agent", "slow", "-n", "9", "--json"]);
      await run.until((output) => output.includes('"agent.started"'));
      expect((await p.ralph(command, ...args)).code).toBe(0);
      await run.until((output) => output.includes('"run.paused"'));
      expect((await p.ralph("resume")).code).toBe(0);
      run.child.kill("SIGKILL");
      return;
    }
    if (command === "resume") {
      // There has to be a run that stopped early, and an agent that does better the next time.
      p.program(
        "late",
        `#!/bin/sh\ncat > /dev/null\ntest -f tried && echo '${answer}' || { touch tried; exit 1; }\n`,
      );
      await p.ralph("run", "-p", "x", "--agent", "late", "--max-failures", "1");
    }
    const { code, all } = await p.ralph(command, ...args);
    expect({ code, all }).toMatchObject({ code: 0 });
  });

  it("of npm exist as scripts", () => {
    const named = PAGES.flatMap((page) => [
      ...readFileSync(join(ROOT, page), "utf8").matchAll(/npm run ([\w:-]+)/g),
    ]);
    for (const [, script] of named) expect(Object.keys(SCRIPTS)).toContain(script);
  });
});

describe("the flags of the documentation", () => {
  it("are flags of ralph, and every flag of ralph run is documented", async () => {
    const help = (await createProject().ralph("run", "--help")).stdout;
    const known = new Set([...help.matchAll(/--[a-z][a-z-]+/g)].map(([flag]) => flag));
    const page =
      readFileSync(join(ROOT, "docs/run.md"), "utf8") +
      readFileSync(join(ROOT, "docs/done.md"), "utf8") +
      readFileSync(join(ROOT, "docs/agents.md"), "utf8");
    expect([...known].filter((flag) => !page.includes(flag) && flag !== "--help")).toEqual([]);
  });

  it("has the default settings that the program has", async () => {
    const { DEFAULTS } = await import("../src/settings/defaults.js");
    const blocks = [...readFileSync(join(ROOT, "docs/run.md"), "utf8").matchAll(/```json\n([\s\S]*?)```/g)];
    const { validate } = await import("../src/settings/validate.js");
    const parsed = blocks.map(([, text]) => JSON.parse(text ?? "") as Record<string, unknown>);
    for (const content of parsed) expect(() => validate([{ name: "docs", content }])).not.toThrow();
    const { guardrails: _, ...defaults } = DEFAULTS;
    expect(parsed.at(-1)).toMatchObject(defaults);
  });
});

describe("docs/events.md", () => {
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
    const page = readFileSync(join(ROOT, "docs/events.md"), "utf8");
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
