import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CATEGORIES, type Category, type GuardVerdict } from "../../src/guard/finding.js";
import { judgeCommand } from "../../src/guard/guard.js";
import { corpus, type Entry, HIDDEN, hidden, hiddenCommands, PLACE, WAYS } from "./corpus.js";

/** Each command is judged once, however many tests ask. */
const verdicts = new Map<string, GuardVerdict>();
const judge = (command: string): GuardVerdict => {
  const verdict = verdicts.get(command) ?? judgeCommand(command, PLACE);
  verdicts.set(command, verdict);
  return verdict;
};
const REFUSED = corpus("refused.txt");
const PASSED = corpus("passed.txt");

/** What was to be refused for a reason, and is not refused for it. */
function missed({ section, command }: Entry): boolean {
  const { refusals } = judge(command);
  return section === "any" ? refusals.length === 0 : !refusals.some(({ category }) => category === section);
}

describe("the corpus", () => {
  it("has every category among what must be refused, ten times or more", () => {
    const counted = Object.keys(CATEGORIES).filter(
      (category) => REFUSED.filter(({ section }) => section === category).length < 10,
    );
    expect(counted).toEqual([]);
  });

  it("is refused, for the reason that it stands under", () => {
    expect(REFUSED.filter(missed)).toEqual([]);
  });

  it("passes", () => {
    const refused = PASSED.map(({ command }) => ({ command, ...judge(command) })).filter(
      ({ allowed }) => !allowed,
    );
    expect(refused).toEqual([]);
  });
});

const EVERYDAY = [
  "npm test",
  "git push origin my-feature",
  "rm -rf node_modules dist",
  "curl -s localhost:3000",
  "echo hi > /dev/null",
];
describe("a command that is hidden", () => {
  it.each(WAYS)("as %s is judged all the same", (way) => {
    const categories = Object.keys(HIDDEN) as Category[];
    const seen = categories.filter((category) =>
      judge(hidden(way, HIDDEN[category])).refusals.some((finding) => finding.category === category),
    );
    expect(seen).toEqual(categories);
    expect(EVERYDAY.filter((command) => !judge(hidden(way, command)).allowed)).toEqual([]);
  });
});

describe("a program that nobody knows", () => {
  const plain = Object.values(HIDDEN).filter((command) => !/[|>=]/.test(command));

  it("is refused around what is refused by itself, and passes otherwise", () => {
    const around = (command: string): string[] => [
      `anyrunner ${command}`,
      `./any.sh --times 3 -- ${command}`,
      hidden("anyrunner -c {q}", command),
    ];
    expect(plain.flatMap(around).filter((command) => judge(command).allowed)).toEqual([]);
    expect(EVERYDAY.flatMap(around).filter((command) => !judge(command).allowed)).toEqual([]);
    const prose = [
      "anyrunner -m 'rm -rf / is dangerous'",
      "anyrunner init",
      "anyrunner add sudo-rs",
      "anyrunner env dev",
    ];
    expect(prose.filter((command) => !judge(command).allowed)).toEqual([]);
  });
});

function row(name: string, commands: string[], isRight: (allowed: boolean) => boolean): string {
  const passed = commands.filter((command) => judge(command).allowed).length;
  const refused = commands.length - passed;
  const missed = isRight(true) ? refused : passed;
  return `| ${[name, commands.length, refused, passed, missed].join(" | ")} |`;
}

it("docs/reference/guard.md has the figures of today", () => {
  const list = (entries: Entry[]): string[] => entries.map(({ command }) => command);
  const rows = [
    row("must be refused", list(REFUSED), (allowed) => !allowed),
    row("must pass", list(PASSED), (allowed) => allowed),
    row("hidden", hiddenCommands(), (allowed) => !allowed),
  ];
  const page = readFileSync(join(import.meta.dirname, "../../docs/reference/guard.md"), "utf8");
  expect(page.split("\n").filter((line) => /^\| (must|hidden) ?/.test(line))).toEqual(rows);
});

describe("what is lost is told, and let pass", () => {
  it.each([
    ["git reset --hard", "git"],
    ["git clean -fdx", "git"],
    ["git push --force-with-lease origin my-feature", "git"],
    ["kubectl delete pod x", "cloud"],
    ["cat .env", "secrets"],
    ['psql -c "UPDATE users SET a = 1"', "databases"],
    ['rm -rf "$DIR"', "files"],
  ])("%s", (command, category) => {
    const { allowed, refusals, warnings } = judge(command);
    expect({ allowed, refusals, categories: warnings.map((finding) => finding.category) }).toEqual({
      allowed: true,
      refusals: [],
      categories: [category],
    });
  });
});

it("says what, where and why", () => {
  expect(judge("npm ci && sudo rm -rf ~/Documents")).toEqual({
    allowed: false,
    refusals: [
      {
        category: "privileges",
        level: "refuse",
        reason: "sudo runs as another user",
        command: "sudo rm -rf ~/Documents",
      },
      {
        category: "files",
        level: "refuse",
        reason: "~/Documents is a home folder or all of a folder in it",
        command: "rm -rf ~/Documents",
      },
    ],
    warnings: [],
  });
});
