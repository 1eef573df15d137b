import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { RalphError } from "../../src/errors.js";
import { loadSettings } from "../../src/settings/load.js";
import { temporaryFolder } from "../kit.js";

const BASE = ".ralph/settings.json";
const LOCAL = ".ralph/settings.local.json";
const DEFAULTS = {
  completionResponse: "DONE",
  outputTruncateChars: 5000,
  streamAgentOutput: true,
  includeIterationCountInPrompt: false,
  checks: [],
};

function workspace(files: Record<string, string>): string {
  const folder = temporaryFolder();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

async function failureOf(folder: string, config?: string) {
  const error: unknown = await loadSettings(folder, config).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(RalphError);
  const { message, code, exitCode } = error as RalphError;
  return { message, code, exitCode };
}

test("the example of the seed is read as it stands", async () => {
  const example = {
    maximumIterations: 10,
    completionResponse: "DONE",
    outputTruncateChars: 5000,
    streamAgentOutput: true,
    includeIterationCountInPrompt: false,
    agent: { command: "claude", flags: ["--model opus", "--no-auto-compact"] },
    guardrails: [
      {
        command: "make lint",
        failAction: "APPEND",
        hint: "Fix lint errors only. Do not change behavior.",
      },
      { command: "make test", failAction: "APPEND" },
    ],
    scm: { command: "git", tasks: ["commit", "push"] },
  };
  const { guardrails: checks, maximumIterations: maxIterations, ...same } = example;
  expect(await loadSettings(workspace({ [BASE]: JSON.stringify(example) }))).toEqual({
    settings: { ...same, maxIterations, checks, scm: { ...example.scm, stage: "all" } },
    files: [
      {
        ...{ name: BASE, content: { ...same, maxIterations, checks } },
        older: { checks: "guardrails", maxIterations: "maximumIterations" },
      },
    ],
  });
});

test("--config stands in for the base file, and the local file still lies over it", async () => {
  const folder = workspace({
    [BASE]: '{"maximumIterations":1}',
    [LOCAL]: '{"completionResponse":"OK"}',
    "other.json": '{"maximumIterations":7}',
  });
  expect((await loadSettings(folder, "other.json")).settings).toEqual({
    ...DEFAULTS,
    maxIterations: 7,
    completionResponse: "OK",
  });
});

test.each(["ralph.yaml", "ralph.yml", "RALPH.YAML"])("--config %s is YAML", async (name) => {
  const folder = workspace({
    [name]: "maximumIterations: 7\nguardrails:\n  - command: make test\n    timeout: 10m\n",
  });
  expect((await loadSettings(folder, name)).settings).toEqual({
    ...DEFAULTS,
    maxIterations: 7,
    checks: [{ command: "make test", failAction: "APPEND", timeout: "10m" }],
  });
});

const MALFORMED: [what: string, content: string, message: string][] = [
  ["a comma too many", '{\n  "a": 1,,\n}\n', "unexpected , at line 2, column 10"],
  ["a mistake after a byte order mark", '\uFEFF{"a":1]', "unexpected ] at line 1, column 7"],
];

test.each(MALFORMED)("%s is malformed JSON, and the error says where", async (_, content, message) => {
  expect(await failureOf(workspace({ [BASE]: content }))).toEqual({
    message: `malformed settings file ${BASE}: ${message}`,
    code: "settings_malformed",
    exitCode: 2,
  });
});

test("malformed YAML says where, in one line", async () => {
  expect(await failureOf(workspace({ "a.yaml": "agent:\n  command: a: b\n" }), "a.yaml")).toEqual({
    message:
      "malformed settings file a.yaml: Nested mappings are not allowed in compact mappings at line 2, column 12",
    code: "settings_malformed",
    exitCode: 2,
  });
});

test("a folder in place of the settings file is an error", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, BASE), { recursive: true });
  expect(await failureOf(folder)).toEqual({
    message: `cannot read settings file ${BASE}: it is a directory`,
    code: "settings_unreadable",
    exitCode: 2,
  });
});

test("settings may hold comments, and commas after the last of a list", async () => {
  const content = `// for everybody
{
  "$schema": "https://example.invalid/settings.json",
  "checks": [
    "npm test", // quick
    { "command": "npm run lint", },
  ],
  /* in USD */ "maxCost": 5,
}
`;
  expect((await loadSettings(workspace({ [BASE]: content }))).settings).toEqual({
    ...DEFAULTS,
    $schema: "https://example.invalid/settings.json",
    checks: [
      { command: "npm test", failAction: "APPEND" },
      { command: "npm run lint", failAction: "APPEND" },
    ],
    maxCost: 5,
  });
});

test("the user's settings lie below those of the project", async () => {
  const home = workspace({ "settings.json": '{"maxCost":5,"checks":["make"],"agent":{"command":"codex"}}' });
  const folder = workspace({ [BASE]: '{"guardrails":["npm test"]}', [LOCAL]: '{"agent":{"model":"m"}}' });
  const { settings, files } = await loadSettings(folder, undefined, home);
  expect(settings).toEqual({
    ...DEFAULTS,
    maxCost: 5,
    checks: [{ command: "npm test", failAction: "APPEND" }],
    agent: { command: "codex", model: "m" },
  });
  expect(files.map(({ name }) => name)).toEqual([join(home, "settings.json"), BASE, LOCAL]);
});

test("null takes away what a file below says", async () => {
  const home = workspace({ "settings.json": '{"maxTime":"1h","notify":{"desktop":true,"command":"x"}}' });
  const folder = workspace({
    [BASE]: '{"scm":{"command":"git","tasks":["commit"]},"completionResponse":"OK","loop":{"max_cost":null}}',
    [LOCAL]: '{"scm":null,"completionResponse":null,"maxTime":null,"notify":{"command":null}}',
  });
  expect((await loadSettings(folder, undefined, home)).settings).toEqual({
    ...DEFAULTS,
    loop: { max_cost: null },
    notify: { desktop: true },
  });
});
