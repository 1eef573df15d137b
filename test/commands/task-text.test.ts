import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { claudeProject, type Project } from "../kit.js";

const BIN = join(import.meta.dirname, "../../bin/ralph.js");
const NOT_YET = { text: "not yet" };
const DONE = { text: "COMPLETE\n<response>DONE</response>" };

const piped = (p: Project, text: string, words: string): string =>
  p.sh(`printf '%s' '${text}' | '${process.execPath}' '${BIN}' ${words} 2>&1 || true`);

const prompts = (p: Project): string => p.sh('cat "$RALPH_HOME"/runs/*/iterations/*/prompt.md');

describe("what to do", () => {
  it.each([
    ["ralph run TEXT", ["run", "fix it"]],
    ["ralph run -- -TEXT", ["run", "--", "-fix it"]],
    ["ralph loop -p TEXT", ["loop", "-p", "fix it", "--check", "true"]],
    ["ralph loop -- -TEXT", ["loop", "--check", "true", "--", "-fix it"]],
  ])("is the text of %s", async (_, words) => {
    const p = claudeProject(DONE);
    expect((await p.ralph(...words)).code).toBe(0);
    expect(prompts(p)).toContain("fix it");
  });

  it("is the file of ralph loop -f, read before each iteration", async () => {
    const p = claudeProject({ text: "x", bash: "echo second > TASK.md" }, DONE);
    p.write("TASK.md", "first");
    expect((await p.ralph("loop", "-f", "TASK.md", "--check", "true")).code).toBe(0);
    expect(prompts(p)).toMatch(/first[\s\S]*second/);
  });

  it.each([
    "run -",
    "run -f -",
    "loop - --check true",
    "loop -f - --check true",
    "loop --spec - --check true",
  ])("is stdin for ralph %s, in every iteration and after ralph resume", async (words) => {
    const p = claudeProject(NOT_YET, NOT_YET, DONE);
    piped(p, "fix the port", `${words} -n 2`);
    expect(p.calls()).toBe(2);
    expect((await p.ralph("resume", "-n", "3")).code).toBe(0);
    expect(prompts(p).match(/fix the port/g)).toHaveLength(3);
  });

  it.each([
    ["", "there is no text on stdin"],
    ["\\0", "stdin is not a text in UTF-8"],
  ])("is not an unusable stdin: %j", (text, message) => {
    const p = claudeProject(DONE);
    const said = p.sh(`printf '${text}' | '${process.execPath}' '${BIN}' run - 2>&1; echo $?`);
    expect(said).toBe(`ralph: error: ${message}\n2\n`);
  });
});

it("older letters are accepted and not shown", async () => {
  const p = claudeProject(DONE);
  expect((await p.ralph("run", "-p", "a", "-m", "3", "-c", "DONE")).code).toBe(0);
  const help = (await p.ralph("run", "--help")).stdout + (await p.ralph("loop", "--help")).stdout;
  expect(help).not.toMatch(/^ +-[mc]\b|--maximum-iterations|--spec|--config-file/m);
  expect((await p.ralph("stories", "run", "--help")).stdout).not.toMatch(/^ +-m\b/m);
});
