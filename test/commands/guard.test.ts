import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createProject } from "../kit.js";

const BIN = join(import.meta.dirname, "../../bin/ralph.js");

it.each([
  ["npm test", 0, "[OK] The guard allows it.\n"],
  [
    "npm ci && git push -f",
    1,
    `[ERR] The guard refuses it.
  destructive git
    it overwrites what others have pushed
    in: git push -f
`,
  ],
  [
    "git reset --hard",
    0,
    `[OK] The guard allows it.
  destructive git, a warning
    what is not committed is lost
    in: git reset --hard
`,
  ],
])("ralph guard says what it would do with %j", async (command, code, stdout) => {
  const judged = await createProject().ralph("guard", command, "--no-emoji");
  expect(judged).toMatchObject({ code, stdout, stderr: "" });
});

it("ralph guard takes the command from stdin and prints JSON", () => {
  const { env } = createProject();
  const input = "sudo\\\n ls\n";
  const { status, stdout } = spawnSync(process.execPath, [BIN, "guard", "-", "--json"], { env, input });
  const refusal = { category: "privileges", level: "refuse", reason: "sudo runs as another user" };
  expect([status, JSON.parse(String(stdout))]).toEqual([
    1,
    {
      ...{ v: 1, command: input, allowed: false, warnings: [] },
      refusals: [{ ...refusal, command: "sudo ls" }],
    },
  ]);
});

it("ralph guard obeys the exceptions of the project, and tells which lines it does not take", async () => {
  const p = createProject();
  p.write("ralph/allowed-commands.txt", "npm publish\nls && rm x\n");
  expect(await p.ralph("guard", "npm publish", "--no-emoji")).toMatchObject({
    code: 0,
    stdout: "[OK] The guard allows it.\n",
    stderr: "ralph: ralph/allowed-commands.txt:2 is not taken: it is more than one command\n",
  });
});
