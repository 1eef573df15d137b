import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, it, test } from "vitest";
import { references } from "../scripts/references.mjs";
import { createProject } from "./kit.js";

const ROOT = join(import.meta.dirname, "..");
const made = references();
const json = (path: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(ROOT, path), "utf8")) as Record<string, unknown>;

describe("the generated references", () => {
  it.each(Object.entries(made))("%s is what the code says (else: npm run docs)", (path, content) => {
    expect(readFileSync(join(ROOT, path), "utf8")).toBe(content);
  });
});

test("every file that the docs name is there", () => {
  const pages = readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" }).map(
    (name) => `docs/${name}`,
  );
  const texts = [
    ...pages.filter((name) => name.endsWith(".md")),
    "README.md",
    "AGENTS.md",
    "CONTRIBUTING.md",
  ];
  const named = texts.flatMap((name) => [
    ...readFileSync(join(ROOT, name), "utf8").matchAll(/`((?:src|test|scripts|bench)\/[\w./-]+\.\w+)`/g),
  ]);
  expect(named.length).toBeGreaterThan(50);
  expect(named.map(([, path = ""]) => path).filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

describe("schemas/events.v1.json", () => {
  const isEvent = new Ajv({ strict: true, allowUnionTypes: true }).compile(json("schemas/events.v1.json"));

  it("takes every event of a run", async () => {
    const p = createProject();
    p.settings({ agent: { command: "claude" }, scm: { command: "git", tasks: ["commit"] } });
    const steps = [
      { exit: 1 },
      { text: "no", bash: "touch a" },
      { bash: "touch ok", text: "<response>DONE</response>" },
    ];
    p.agent(steps, { commit: "Add a" });
    const { events } = await p.ralph("run", "-p", "x", "--check", "test -f ok", "--json");
    expect(new Set(events.map(({ type }) => type)).size).toBe(11);
    for (const event of events) expect([event, isEvent(event), isEvent.errors]).toEqual([event, true, null]);
  });

  it.each([
    ["no version", { type: "run.paused", ts: "2026-01-01T00:00:00Z", run: "r", iterations: 1 }],
    ["another version", { v: 2, type: "run.paused", ts: "", run: "r", iterations: 1 }],
    ["a field of the wrong type", { v: 1, type: "run.paused", ts: "", run: "r", iterations: "1" }],
    ["an event that does not exist", { v: 1, type: "run.lost", ts: "", run: "r" }],
  ])("refuses %s", (_, event) => {
    expect(isEvent(event)).toBe(false);
  });

  it("takes fields that a later release adds", () => {
    expect(
      isEvent({ v: 1, type: "run.paused", ts: "", run: "r", iterations: 1, activeMs: 0, later: true }),
    ).toBe(true);
  });
});

describe("schemas/settings.v1.json", () => {
  it("is what ralph config --schema prints, with a title", async () => {
    const { stdout } = await createProject().ralph("config", "--schema");
    expect(json("schemas/settings.v1.json")).toEqual({
      title: "Settings of ralph",
      ...(JSON.parse(stdout) as object),
    });
  });
});
