import { makefileOf, scriptsOf, textOf } from "./project.js";

const RUNNERS = [
  "(?:vitest|jest|mocha|pytest|py\\.test|rspec|phpunit|ctest|bats)(?:\\.[cm]?js)?",
  "(?:node|tsx)\\s(?:.*\\s)?--test",
  "python[\\d.]*\\s(?:.*\\s)?-m\\s+(?:unittest|pytest)",
  "cargo\\s(?:.*\\s)?(?:t|test|nextest)",
  "(?:gotestsum|prove)",
  "python[\\d.]*\\s(?:.*\\s)?(?:\\S*/)?(?:test_\\S+|\\S+_test)\\.py",
  "(?:\\S*/)?manage\\.py\\s+test",
  "(?:go|deno|dotnet|swift|mix|playwright)\\s(?:.*\\s)?test",
];

/** Runners whose output tells how many tests have passed. */
const KNOWN = command([...RUNNERS, "gradlew?", "mvnw?"]);

/** Commands that are about tests: those, and what calls them. A build is none, also where it could run tests. */
const ABOUT_TESTS = command([
  ...RUNNERS,
  "(?:ava|jasmine|tox|nox|tap|karma)",
  "(?:gradlew?|mvnw?|turbo|nx|lerna|bun|rake|rails|artisan|bazel|sbt|lein|dart|flutter|zig|just|composer|make)\\s(?:.*[\\s:])?[\\w-]*(?:[tT]ests?|verify|check)",
]);

function command(patterns: string[]): RegExp {
  return new RegExp(`(?:^|[\\s;&|(@/"'])(?:${patterns.join("|")})(?=$|[\\s;&|)"':])`, "m");
}

/** Scripts call scripts, but not for ever. */
const MAX_DEPTH = 4;

/** Whether it is a runner whose output we can read, also behind `npm test` and `make test`. */
export function isKnownRunner(text: string, project: string): boolean {
  // A script that cannot be read has to prove itself.
  return leadsTo(text, project, (one, isLast) => KNOWN.test(one) || (isLast && NPM.test(one)));
}

const NPM = /\b(?:npm|pnpm|yarn)\b/;
const NPM_TEST = /\b(?:npm|pnpm|yarn)\s(?:.*\s)?(?:t|tst|test\S*)(?=$|[\s;&|)"'])/m;

/** Whether it is there to run tests, also behind a script: one that says that it ran none proves nothing. */
export function isAboutTests(text: string, project: string): boolean {
  return leadsTo(text, project, (one, isLast) => {
    if (ABOUT_TESTS.test(one) || (isLast && NPM_TEST.test(one))) return true;
    const scripts = one.match(/[^\s;&|()"'@]+\.sh\b/g) ?? [];
    return scripts.some((file) => ABOUT_TESTS.test(textOf(project, file)));
  });
}

/** Asks about the command itself and about the scripts and rules that it calls, until one says yes. */
function leadsTo(
  text: string,
  project: string,
  isMeant: (text: string, isLast: boolean) => boolean,
  depth = MAX_DEPTH,
): boolean {
  const behind = depth === 0 ? [] : [...scriptsBehind(text, project), ...rulesBehind(text, project)];
  return (
    isMeant(text, behind.length === 0) || behind.some((one) => leadsTo(one, project, isMeant, depth - 1))
  );
}

function scriptsBehind(command: string, project: string): string[] {
  const scripts = scriptsOf(project);
  const calls = command.matchAll(/\b(?:npm|pnpm|yarn|bun)\s+(?:run(?:-script)?\s+)?([\w:.-]+)/g);
  return [...calls].flatMap(([, name = ""]) => scripts[/^(?:t|tst)$/.test(name) ? "test" : name] ?? []);
}

/** What the rules do that `make` is asked for, and those that they need. */
function rulesBehind(command: string, project: string): string[] {
  const rules = makefileOf(project).split(/\n(?=[^\s#])/);
  const targets = [...command.matchAll(/(?:\bmake|\$\(MAKE\))\s+([\w.-]+)/g)];
  return targets.flatMap(([, target = ""]) => {
    const rule = rules.find((text) => namesOf(text).includes(target));
    return rule === undefined ? [] : [asCommands(rule)];
  });
}

function namesOf(rule: string): string[] {
  return (/^([^:=#\n]+)::?(?![:=])/.exec(rule)?.[1] ?? "").trim().split(/\s+/);
}

function asCommands(rule: string): string {
  const [first = "", ...recipe] = rule.split("\n");
  const [needs = "", ...inline] = first.replace(/^[^:]*::?/, "").split(";");
  const needed = needs.split(/\s+/).filter((name) => /^[\w.-]+$/.test(name));
  return [...needed.map((name) => `make ${name}`), ...inline, ...recipe].join("\n");
}
