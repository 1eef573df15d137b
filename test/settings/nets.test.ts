import { describe, expect, it } from "vitest";
import { validate } from "../../src/settings/validate.js";

const refusal = (content: object): string => {
  try {
    validate([{ name: "s.json", content }]);
    return "";
  } catch (error) {
    return (error as Error).message;
  }
};

describe("settings of the safety nets", () => {
  it.each<[object, string]>([
    [
      { notify: { webhook: "hooks.example/KEY" } },
      "s.json: notify.webhook has a value of the wrong kind (string): expected an address that begins with http:// or https://",
    ],
    [
      { notify: { webhook: "ftp://hooks.example/KEY" } },
      "s.json: notify.webhook has a value of the wrong kind (string): expected an address that begins with http:// or https://",
    ],
    [
      { notify: { on: ["done"] } },
      's.json: notify.on.0 has "done": expected one of "finished"|"failed"|"blocked"|"waiting"',
    ],
    [{ notify: { comand: "x" } }, 's.json: unknown key "notify.comand" (did you mean "command"?)'],
    [{ notify: { command: "" } }, 's.json: notify.command has "": expected something in it'],
    [{ notify: { desktop: "yes" } }, 's.json: notify.desktop has "yes": expected boolean'],
    [
      { checks: { parallel: 0 } },
      "s.json: checks.parallel has 0: expected true, false, or a whole number of at least 1",
    ],
    [
      { checks: { parallel: "all" } },
      's.json: checks.parallel has "all": expected true, false, or a whole number of at least 1',
    ],
    [{ checks: { paralel: 2 } }, 's.json: unknown key "checks.paralel" (did you mean "parallel"?)'],
    [
      { checks: { inputs: { "npm test": [] } } },
      "s.json: checks.inputs.npm test has []: expected at least one pattern",
    ],
    [
      { guardrails: [{ command: "x", inputs: ["/etc"] }] },
      's.json: guardrails.0.inputs.0 has "/etc": expected a pattern of files in the project, such as tests/**',
    ],
    [
      { protect: ["tests", "../other"] },
      's.json: protect.1 has "../other": expected a pattern of files in the project, such as tests/**',
    ],
    [
      { protect: ["!tests/a"] },
      's.json: protect.0 has "!tests/a": expected a pattern of what is meant: exceptions with ! are not known',
    ],
    [{ protect: "tests/**" }, 's.json: protect has "tests/**": expected array'],
  ])("refuses %j", (content, message) => {
    expect(refusal(content)).toBe(message);
  });

  it("takes them all", () => {
    const settings = {
      notify: { desktop: true, webhook: "https://hooks.example/KEY", command: "cat", on: ["blocked"] },
      checks: { parallel: true, failFast: true, inputs: { "npm test": ["src/**"] } },
      protect: ["tests/**", "prd.md"],
    };
    expect(validate([{ name: "s.json", content: settings }])).toMatchObject(settings);
  });
});
