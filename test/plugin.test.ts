import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { HOOK_NAMES } from "../src/commands/hook.js";
import { createProject } from "./kit.js";

const ROOT = join(import.meta.dirname, "..");
const read = <T>(path: string): T => JSON.parse(readFileSync(join(ROOT, path), "utf8")) as T;

interface Manifest {
  name: string;
  version: string;
  description: string;
  hooks?: string;
}
interface Hooks {
  hooks: Record<string, { matcher?: string; hooks: { type: string; command: string }[] }[]>;
}

const manifest = read<Manifest>("plugin/.claude-plugin/plugin.json");

test("the plugin has the version of the package, and so has its entry in the marketplace", () => {
  const { version, files } = read<{ version: string; files: string[] }>("package.json");
  const { plugins } = read<{ plugins: (Manifest & { source: string })[] }>(".claude-plugin/marketplace.json");
  const { name, description } = manifest;
  expect(manifest.version).toBe(version);
  expect(plugins).toEqual([{ name, source: "./plugin", version, description }]);
  expect(files).toEqual(expect.arrayContaining([".claude-plugin", "plugin"]));
});

test("its hooks call commands that ralph has", () => {
  const { hooks } = read<Hooks>("plugin/hooks/hooks.json");
  const called = Object.entries(hooks).map(([event, [group]]) => {
    const command = group?.hooks[0]?.command ?? "";
    return [event, /exec ralph hook (\S+)$/.exec(command)?.[1]];
  });
  // No guard: in a session of their own people are asked, and in a run the loop wires it.
  expect(called).toEqual([
    ["SessionStart", "session-start"],
    ["PostToolUse", "context"],
    ["Stop", "stop"],
  ]);
  expect(
    called.map(([, name]) => name).filter((name) => !HOOK_NAMES.some((known) => known === name)),
  ).toEqual([]);
});

test("its hooks say nothing where ralph is not installed", () => {
  const { hooks } = read<Hooks>("plugin/hooks/hooks.json");
  const commands = Object.values(hooks).flatMap((groups) => groups.flatMap((group) => group.hooks));
  for (const { command } of commands)
    expect(execFileSync("/bin/sh", ["-c", command], { env: { PATH: "/nowhere" }, encoding: "utf8" })).toBe(
      "",
    );
});

test("its templates are those of ralph stories init", async () => {
  const p = createProject();
  expect((await p.ralph("stories", "init", "--name", "x")).code).toBe(0);
  expect(readdirSync(join(ROOT, "plugin/templates")).sort()).toEqual(
    readdirSync(join(p.dir, "ralph")).sort(),
  );
});

test("the example in its skill is a list of stories that ralph takes", async () => {
  const skill = readFileSync(join(ROOT, "plugin/skills/ralph-plan/SKILL.md"), "utf8");
  const example = /```json\n([\s\S]*?)```/.exec(skill)?.[1];
  const { checkTasks } = await import("../src/recipes/stories/rules.js");
  expect(checkTasks(example, { skipReview: false, reviewCap: 5 }).findings).toEqual([]);
  expect(skill).toMatch(/^---\nname: ralph-plan\ndescription: .*\/ralph-plan.*\n---\n/);
});

test.each(["run", "status"])("/ralph:%s names commands and flags that ralph has", async (name) => {
  const text = readFileSync(join(ROOT, `plugin/commands/${name}.md`), "utf8");
  expect(text).toMatch(/^---\ndescription: .+\nargument-hint: .+\nallowed-tools: .*Bash\(ralph.*\n---\n/);
  const p = createProject();
  const named = [
    ...text.matchAll(/\bralph (ls|runs|report|resume|answer|spawn|watch|config|loop)\b([^`\n]*)/g),
  ];
  expect(named.length).toBeGreaterThan(3);
  for (const [, command = "", rest = ""] of named) {
    const { stdout } = await p.ralph(command, "--help");
    for (const [flag] of rest.matchAll(/--[a-z-]+/g)) expect(stdout).toContain(flag);
  }
});
