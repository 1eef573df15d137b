import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What one call of an agent does, in words that each agent's writer understands. */
export interface Step {
  verb: string;
  text: string;
}

export interface Expected {
  verdict: "done" | "not done" | "limit" | "error";
  /** A part of the reason, or for a limit the time at which it ends. */
  because: string | undefined;
}

export interface Case {
  name: string;
  file: string;
  recipe: string;
  /** Left out, or `all`: every agent that can say these words. */
  agents: string[] | undefined;
  /** `text`: only the answer is printed, and no stream. */
  mode: "stream" | "text";
  /** What the agent is asked. */
  prompt: string;
  /** Whether the checks pass. */
  checks: "pass" | "fail";
  /** tasks.json before the first call, story by story. */
  stories: string[];
  /** The check of protected files. */
  check: string;
  /** Commands that the agent does not know. */
  hidden: string[];
  /** How often checks that passed are run again. */
  confirm: number;
  /** Whether the check is known to be flaky. */
  retry: boolean;
  /** Whether a check has to go from red to green. */
  witness: boolean;
  /** Files that an earlier run has left behind: path and content. */
  left: string[];
  /** In a repository of its own: commands before the run. */
  git: string[];
  /** Verify commands of the stories. */
  commands: string[];
  /** Whether stories are passed without reviews. */
  skipReview: boolean;
  /** Whether the stories are in a repository, and have to be committed. */
  repository: boolean;
  expected: Expected;
  calls: Step[][];
}

const FOLDER = join(import.meta.dirname, "cases");
const FIELDS = new Set([
  ...["recipe", "agents", "mode", "prompt", "checks", "check", "story", "left", "git"],
  ...["reviews", "repository", "hidden", "confirm", "retry", "witness"],
]);

export function allCases(): Case[] {
  return readdirSync(FOLDER)
    .sort()
    .flatMap((file) => casesIn(file, readFileSync(join(FOLDER, file), "utf8")));
}

/**
 * Blocks between blank lines, each a case. One that begins with `table` has a case in each line; one that begins with
 * `every` holds fields of all that follow, up to the next one.
 */
function casesIn(file: string, text: string): Case[] {
  const lines = text.split("\n").filter((line) => !line.startsWith("#"));
  const blocks = lines.join("\n").split(/\n{2,}/);
  let shared: string[] = [];
  return blocks
    .map((block) => block.split("\n").filter((line) => line.trim() !== ""))
    .flatMap(([head, ...lines]) => {
      if (head === "every") shared = lines;
      if (head === undefined || head === "every") return [];
      const own = new Set(lines.map((line) => word(line).verb));
      const all = [...shared.filter((line) => !own.has(word(line).verb)), ...lines];
      return head.startsWith("table") ? table(file, head, all) : [oneCase(file, head, all)];
    });
}

/** Each line is `expected | text`, and the text is what the verb of the table does. */
function table(file: string, head: string, lines: string[]): Case[] {
  const about = lines.filter((line) => !line.includes(" | "));
  const rows = lines.filter((line) => line.includes(" | "));
  return rows.map((row) => {
    const [expected, text] = halves(row);
    const step = `${word(head).text} ${text}`;
    return oneCase(file, `${expected} | ${step}`, [...about, step]);
  });
}

/** `expected | the rest` */
function halves(line: string): [string, string] {
  const at = line.indexOf(" | ");
  return [line.slice(0, at), line.slice(at + 3)];
}

function oneCase(file: string, head: string, lines: string[]): Case {
  const [verdict, name] = halves(head);
  const words = lines.map(word);
  const of = (name: string): string[] =>
    words.filter(({ verb }) => verb === name).map(({ text }) => unescaped(text));
  const steps = words.filter(({ verb }) => !FIELDS.has(verb));
  const [agents] = of("agents");
  return {
    name,
    file,
    recipe: of("recipe")[0] ?? "prompt",
    agents: agents === "all" ? undefined : agents?.split(" "),
    mode: of("mode")[0] === "text" ? "text" : "stream",
    prompt: of("prompt")[0] ?? "Fix the tests. Say <response>DONE</response> when you are done.",
    checks: of("checks")[0] === "fail" ? "fail" : "pass",
    check: of("check")[0] ?? "true",
    hidden: of("hidden"),
    confirm: Number(of("confirm")[0] ?? 0),
    retry: of("retry").length > 0,
    witness: of("witness").length > 0,
    stories: of("story"),
    left: of("left"),
    git: of("git"),
    commands: of("check"),
    skipReview: of("reviews")[0] === "skipped",
    repository: of("repository").length > 0,
    expected: expected(unescaped(verdict), `${file}: ${name}`),
    calls: calls(steps),
  };
}

function word(line: string): Step {
  const [, verb = "", text = ""] = /^(\S+) ?(.*)$/s.exec(line) ?? [];
  return { verb, text };
}

function calls(steps: Step[]): Step[][] {
  const all: Step[][] = [[]];
  for (const step of steps) {
    if (step.verb === "next") all.push([]);
    else all.at(-1)?.push({ ...step, text: step.verb === "line" ? step.text : unescaped(step.text) });
  }
  return all;
}

function expected(text: string, where: string): Expected {
  const [, verdict, because] = /^(done|not done|limit|error)(?:: (.*))?$/.exec(text.trim()) ?? [];
  if (verdict === undefined) throw new Error(`${where}: expected done, not done, limit or error: ${text}`);
  return { verdict: verdict as Expected["verdict"], because };
}

/** `\n`, `\r`, `\t` and `\uXXXX`, so that what cannot be seen is written down. `\many{9}` is nine letters. */
function unescaped(text: string): string {
  return text
    .replace(/\\many\{(\d+)\}/g, (_, count: string) => "x".repeat(Number(count)))
    .replace(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/\\([nrt])/g, (_, sign: string) => ({ n: "\n", r: "\r", t: "\t" })[sign] ?? sign);
}
