import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { AGENTS, cacheFolder, chosenAgents, installedAgent } from "../../scripts/real-agents.mjs";
import { differences, TABLE_FILE, withColumns } from "../../scripts/real-agents-table.mjs";
import { temporaryFolder } from "../kit.js";

const SCRIPT = join(import.meta.dirname, "../../scripts/test-agents.mjs");

/** The script where no package can be had. */
function testAgents(args: string[], env: NodeJS.ProcessEnv = {}) {
  const home = temporaryFolder();
  const { status, stderr } = spawnSync(process.execPath, [SCRIPT, ...args], {
    env: { PATH: process.env["PATH"], HOME: home, ...NOWHERE, ...env },
    encoding: "utf8",
  });
  return {
    status,
    stderr,
    left: existsSync(cacheFolder({ HOME: home })) ? readdirSync(cacheFolder({ HOME: home })) : [],
  };
}

const NOWHERE = { npm_config_registry: "http://127.0.0.1:9", npm_config_fetch_retries: "0" };

describe("npm run test:agents", () => {
  test.each([
    [[], ["claude", "codex", "opencode", "gemini", "amp"]],
    [
      ["codex", "claude"],
      ["claude", "codex"],
    ],
    [["amp", "amp"], ["amp"]],
  ])("takes %j for %j", (words, expected) => {
    expect(chosenAgents(words)).toEqual(expected);
  });

  it("refuses an agent that there is none of", () => {
    expect(testAgents(["claud"])).toEqual({
      status: 2,
      stderr: "test:agents: there is no agent claud here: claude, codex, opencode, gemini, amp\n",
      left: [],
    });
  });

  it("names an agent that cannot be had, leaves nothing of it, and fails in CI", () => {
    const { status, stderr, left } = testAgents(["amp"], { CI: "true" });
    expect({ status, left }).toEqual({ status: 1, left: [] });
    expect(stderr).toMatch(/^test:agents: amp cannot be had here; left out: npm install .*ECONNREFUSED/);
    expect(stderr).toContain("test:agents: with CI set, that is a failure\n");
  });

  it("takes an agent that is installed, if it is the release that it should be", async () => {
    const folder = temporaryFolder();
    const program = join(folder, `amp-${AGENTS["amp"]?.version}`, "node_modules/.bin/amp");
    mkdirSync(dirname(program), { recursive: true });
    const says = (version: string | undefined) => writeFileSync(program, `#!/bin/sh\necho ${version}\n`);
    says(AGENTS["amp"]?.version);
    chmodSync(program, 0o755);
    expect(await installedAgent("amp", { folder })).toBe(program);
    says("9.9.9");
    await expect(installedAgent("amp", { folder })).rejects.toThrow(
      `${program} says that it is 9.9.9, not 0.0.`,
    );
  });

  it("pins every release", () => {
    for (const { version, older = version } of Object.values(AGENTS))
      for (const release of [version, older]) expect(release).toMatch(/^\d+\.\d+\.\d+[\w.-]*$/);
  });
});

describe("the table of docs/internals/real-agents.md", () => {
  const test1 = { ancestorTitles: ["faults"], title: "a fault", status: "passed" };
  const test2 = { ancestorTitles: ["recipes"], title: "a recipe", status: "passed" };
  const skipped = { ancestorTitles: ["hooks"], title: "a hook", status: "skipped", meta: {} };
  const report = {
    testResults: [
      {
        assertionResults: [
          { ...test1, meta: { agent: "amp", told: "in its own way" } },
          { ...test2, meta: { agent: "amp" } },
          skipped,
        ],
      },
    ],
  };
  const page =
    "# x\n\n| | a | b | c | d | e |\n|---|---|---|---|---|---|\n| a recipe | yes | | | | no |\n\nend\n";
  const amp = `\`amp\` ${AGENTS["amp"]?.version}`;
  const expected = `# x

| | a | b | c | d | ${amp} |
|---|---|---|---|---|---|
| a recipe | yes | | | | yes |
| a fault | | | | | in its own way |
| a hook | | | | | – |

end
`;

  it("is written from what passed, for the agents that were tested", () => {
    expect(withColumns(page, report, ["amp"])).toBe(expected);
    expect(differences(expected, report, ["amp"])).toEqual([]);
  });

  it("is there for the releases that are pinned", () => {
    const head = readFileSync(TABLE_FILE, "utf8")
      .split("\n")
      .find((line) => line.startsWith("| |"));
    const names = Object.entries(AGENTS).map(([name, { version }]) => ` \`${name}\` ${version} |`);
    expect(head).toBe(`| |${names.join("")}`);
  });
});
