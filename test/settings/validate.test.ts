import { expect, test } from "vitest";
import { RalphError } from "../../src/errors.js";
import { validate } from "../../src/settings/validate.js";

function problemsIn(base: unknown, local?: unknown): string {
  const files = [{ name: "base.json", content: base }];
  if (local !== undefined) files.push({ name: "local.json", content: local });
  try {
    validate(files);
  } catch (error) {
    expect(error).toBeInstanceOf(RalphError);
    expect(error).toMatchObject({ code: "settings_invalid", exitCode: 2 });
    return (error as RalphError).message;
  }
  return "";
}

const PROBLEMS: [content: unknown, problem: string][] = [
  [{ maxIteration: 5 }, 'unknown key "maxIteration" (did you mean "maxIterations"?)'],
  [{ agent: { comand: "claude" } }, 'unknown key "agent.comand" (did you mean "command"?)'],
  [
    { guardrails: [{ command: "a" }, { command: "b", failaction: "APPEND" }] },
    'unknown key "guardrails.1.failaction" (did you mean "failAction"?)',
  ],
  [JSON.parse('{"__proto__":{"a":1}}'), 'unknown key "__proto__" (ralph config --schema lists the keys)'],
  [{ maximumIterations: "ten" }, 'maximumIterations has "ten": expected a number'],
  [{ maximumIterations: 0 }, "maximumIterations has 0: expected at least 1"],
  [{ streamAgentOutput: "yes" }, 'streamAgentOutput has "yes": expected a boolean: true or false'],
  [{ agent: { flags: "--model opus" } }, 'agent.flags has "--model opus": expected an array'],
  [
    { agent: { permissions: "root" } },
    'agent.permissions has "root": expected one of "unattended"|"all"|"edits"|"ask"',
  ],
  [
    { agents: { fast: { command: "a", env: { A: 1 } } } },
    "agents.fast.env.A has a value of the wrong kind (number): expected a string",
  ],
  [
    { guardrails: [{ command: "a", failAction: "append" }] },
    'guardrails.0.failAction has "append": expected one of "APPEND"|"PREPEND"|"REPLACE"',
  ],
  [[], "the file has []: expected an object"],
  [
    { notify: { webhook: "hooks.example/KEY" } },
    "notify.webhook has a value of the wrong kind (string): expected an address that starts with http:// or https://",
  ],
  [
    { checks: { parallel: 0 } },
    "checks.parallel has 0: expected true, false, or a whole number of at least 1",
  ],
  [
    { protect: ["tests", "../other"] },
    'protect.1 has "../other": expected a pattern of files in the project, such as tests/**',
  ],
  [{ protect: "tests/**" }, 'protect has "tests/**": expected an array'],
  [{ checks: "npm test" }, 'checks has "npm test": expected a list of commands, such as ["npm test"]'],
  [{ checks: [""] }, 'checks.0.command has "": expected text'],
  [{ maxCost: 0 }, "maxCost has 0: expected an amount in USD above 0"],
  [{ guardrails: [], checks: ["a"] }, '"guardrails" is an older name of "checks", and both are given'],
  [
    { checks: { parallel: 2 }, checkOptions: {} },
    '"checks" is an older name of "checkOptions", and both are given',
  ],
];

const MEANT: [content: unknown, key: string, meant: string][] = [
  [{ maxCostUsd: 5 }, "maxCostUsd", "maxCost"],
  [{ budget: 5 }, "budget", "maxCost"],
  [{ verify: ["npm test"] }, "verify", "checks"],
  [{ model: "opus" }, "model", "agent.model"],
  [{ install: "npm ci" }, "install", "setup"],
  [{ checks: [{ cmd: "make", command: "a" }] }, "checks.0.cmd", "command"],
  [{ agent: { args: [] } }, "agent.args", "flags"],
];

test.each(MEANT)("%j names the key that is meant", (content, key, meant) => {
  expect(problemsIn(content)).toBe(`base.json: unknown key "${key}" (did you mean "${meant}"?)`);
});

test("the list of checks has an older name, and so have its options", () => {
  const content = { checks: { parallel: 2 }, guardrails: ["make", { name: "unit", command: "npm test" }] };
  expect(validate([{ name: "base.json", content }]).settings).toMatchObject({
    checks: [
      { command: "make", failAction: "APPEND" },
      { name: "unit", command: "npm test", failAction: "APPEND" },
    ],
    checkOptions: { parallel: 2 },
  });
});

test.each(PROBLEMS)("%j is refused", (content, problem) => {
  expect(problemsIn(content)).toBe(`base.json: ${problem}`);
});

test("several problems are all told", () => {
  expect(problemsIn({ maximumIterations: "ten", guardrails: [{}], agnet: {} })).toBe(
    [
      'base.json: maximumIterations has "ten": expected a number',
      "base.json: guardrails.0.command is missing: expected a string",
      'base.json: unknown key "agnet" (did you mean "agent"?)',
    ].join("; "),
  );
});

const OWNERS: [what: string, base: unknown, local: unknown, message: string][] = [
  [
    "a value of the local file",
    { maximumIterations: 5 },
    { maximumIterations: "ten" },
    'local.json: maximumIterations has "ten": expected a number',
  ],
  [
    "a key that is missing in a list of the local file, which replaces that of the base file",
    { guardrails: [{ command: "make" }] },
    { guardrails: [{ hint: "x" }] },
    "local.json: guardrails.0.command is missing: expected a string",
  ],
  ["a local file that is no object", {}, null, "local.json: the file has null: expected an object"],
];

test.each(OWNERS)("%s is blamed on its file", (_, base, local, message) => {
  expect(problemsIn(base, local)).toBe(message);
});
