import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Runners whose output tells how many tests have passed. */
const KNOWN = new RegExp(
  `(?:^|[\\s;&|(@/])(?:${[
    "vitest|jest|mocha|pytest|py\\.test|rspec|phpunit|ctest|bats|gradlew?|mvnw?",
    "(?:node|tsx)\\s(?:.*\\s)?--test",
    "python[\\d.]*\\s(?:.*\\s)?-m\\s+(?:unittest|pytest)",
    "cargo\\s(?:.*\\s)?(?:test|nextest)",
    "(?:go|deno|dotnet|swift|mix|playwright)\\s(?:.*\\s)?test",
  ].join("|")})(?=$|[\\s;&|)])`,
  "m",
);

/** Scripts call scripts, but not for ever. */
const MAX_DEPTH = 4;

/** Whether it is a runner whose output we can read, also behind `npm test` and `make test`. */
export function isKnownRunner(command: string, project: string, depth = 0): boolean {
  if (KNOWN.test(command)) return true;
  if (depth === MAX_DEPTH) return false;
  const behind = [...scriptsBehind(command, project), ...rulesBehind(command, project)];
  // What cannot be looked into has to prove itself.
  if (behind.length === 0) return /\b(?:npm|pnpm|yarn)\b/.test(command);
  return behind.some((text) => isKnownRunner(text, project, depth + 1));
}

function scriptsBehind(command: string, project: string): string[] {
  const scripts = scriptsOf(project);
  const calls = command.matchAll(/\b(?:npm|pnpm|yarn|bun)\s+(?:run(?:-script)?\s+)?([\w:.-]+)/g);
  return [...calls].flatMap(([, name = ""]) => {
    const script = scripts[/^(?:t|tst)$/.test(name) ? "test" : name];
    return typeof script === "string" ? [script] : [];
  });
}

function scriptsOf(project: string): Record<string, unknown> {
  try {
    const { scripts } = JSON.parse(textOf(project, "package.json").replace(/^\uFEFF/, ""));
    return typeof scripts === "object" && scripts !== null ? scripts : {};
  } catch {
    return {};
  }
}

/** What the rules do that `make` is asked for, and those that they need. */
function rulesBehind(command: string, project: string): string[] {
  const makefile = MAKEFILES.map((name) => textOf(project, name)).find((text) => text !== "") ?? "";
  const targets = [...command.matchAll(/(?:\bmake|\$\(MAKE\))\s+([\w.-]+)/g)].map(([, name]) => name);
  return targets.flatMap((target) => {
    const rule = makefile.split(/\n(?=[^\s#])/).find((text) => namesOf(text).includes(target ?? ""));
    return rule === undefined ? [] : [asCommands(rule)];
  });
}

const MAKEFILES = ["GNUmakefile", "makefile", "Makefile"];

function namesOf(rule: string): string[] {
  return (/^([^:=#\n]+)::?(?![:=])/.exec(rule)?.[1] ?? "").trim().split(/\s+/);
}

function asCommands(rule: string): string {
  const [first = "", ...recipe] = rule.split("\n");
  const [needs = "", ...inline] = first.replace(/^[^:]*::?/, "").split(";");
  const needed = needs.split(/\s+/).filter((name) => /^[\w.-]+$/.test(name));
  return [...needed.map((name) => `make ${name}`), ...inline, ...recipe].join("\n");
}

function textOf(project: string, file: string): string {
  try {
    return readFileSync(join(project, file), "utf8");
  } catch {
    return "";
  }
}
