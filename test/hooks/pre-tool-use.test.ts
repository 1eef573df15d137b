import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { guardOf } from "../../src/hooks/guard-call.js";
import { answerToTooMuch, type HookInput, readInput } from "../../src/hooks/hook.cjs";
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
  ["a folder", '{"tool_name":"exec_command","tool_input":{"cmd":"rm -rf *","workdir":"/home"}}'],
])("is not led astray by %s", (_, text) => {
  const guard = guardOf(temporaryFolder(), { HOME: "/home/somebody" });
  expect(JSON.stringify(guard(readInput(text) as HookInput))).toContain('"deny"');
});

it("refuses what it cannot judge", () => {
  const guard = guardOf(temporaryFolder(), { HOME: "/home/somebody" });
  const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
  const text = `{"tool_name":"Write","tool_input":{"file_path":${deep}}}`;
  expect(JSON.stringify(guard(readInput(text) as HookInput))).toContain("it cannot be judged");
});

describe("the process", () => {
  const REFUSED = JSON.stringify({ tool_name: "Bash", tool_input: { command: "rm -rf ~" } });
  const CALL = [fileURLToPath(new URL("../../dist/start.cjs", import.meta.url)), "hook", "pre-tool-use"];

  it.each(["", "not json", "[]", `${REFUSED}${REFUSED}`])("refuses what it cannot read: %j", (input) => {
    const { status, stdout } = spawnSync(process.execPath, CALL, { input, encoding: "utf8" });
    expect([status, stdout]).toEqual([0, expect.stringContaining('"permissionDecision":"deny"')]);
  });

  it("ends in peace when nobody listens to it", () => {
    const gone = spawnSync(
      "bash",
      ["-c", `"$@" | true; echo "\${PIPESTATUS[0]}"`, "-", process.execPath, ...CALL],
      {
        input: REFUSED,
        encoding: "utf8",
      },
    );
    expect([gone.stdout, gone.stderr]).toEqual(["0\n", ""]);
  });
});

it("refuses what is more than it reads, and no other hook does", () => {
  expect(JSON.stringify(answerToTooMuch("pre-tool-use"))).toContain('"deny"');
  expect(answerToTooMuch("stop")).toBeUndefined();
});
