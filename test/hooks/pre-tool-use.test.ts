import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { answerToTooMuch, type HookInput, readInput } from "../../src/hooks/hook.cjs";
import { guardOf } from "../../src/hooks/pre-tool-use.js";
import { temporaryFolder } from "../kit.js";

it("holds a run to the exceptions of its start, wherever the agent is and whatever it writes", () => {
  const project = temporaryFolder();
  const below = join(project, "own");
  for (const folder of ["ralph", "own/.git", "own/ralph"])
    mkdirSync(join(project, folder), { recursive: true });
  writeFileSync(join(project, "ralph/allowed-commands.txt"), "npm publish\n");
  const guard = guardOf(project, { HOME: "/home/somebody" });
  for (const folder of [project, below])
    writeFileSync(join(folder, "ralph/allowed-commands.txt"), "sudo ...\nnpm publish\n");
  const isDenied = (cwd: string, command: string): boolean => {
    const sent = { cwd, tool_name: "Bash", tool_input: { command } };
    return JSON.stringify(guard(readInput(JSON.stringify(sent)) as HookInput) ?? "").includes('"deny"');
  };
  expect(
    [project, below].flatMap((cwd) =>
      ["npm publish", "sudo ls", "rm -rf ."].map((text) => isDenied(cwd, text)),
    ),
  ).toEqual([...[false, true, true], ...[false, true, false]]);
});

it.each([
  ["a mark in front", '\uFEFF{"tool_name":"Bash","tool_input":{"command":"rm -rf ~"}}'],
  ["a text", '{"tool_name":"Bash","tool_input":"rm -rf ~"}'],
  ["JSON in a text", '{"tool_name":"Bash","tool_input":"{\\"command\\":\\"rm -rf ~\\"}"}'],
  ["words", '{"tool_name":"Bash","tool_input":["rm","-rf","~"]}'],
  ["a folder", '{"tool_name":"exec_command","tool_input":{"cmd":"rm -rf *","workdir":"/home"}}'],
])("is not led astray by %s", (_, text) => {
  const guard = guardOf(temporaryFolder(), { HOME: "/home/somebody" });
  expect(JSON.stringify(guard(readInput(text) as HookInput))).toContain('"deny"');
});

it("refuses what is more than it reads, and no other hook does", () => {
  expect(JSON.stringify(answerToTooMuch("pre-tool-use"))).toContain('"deny"');
  expect(answerToTooMuch("stop")).toBeUndefined();
});
