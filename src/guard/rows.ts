import { type Call, hasFlag, valuesOf } from "./call.js";
import type { Category, Risk } from "./finding.js";
import { PREDICATES } from "./predicates.js";
import { RULES } from "./rules.js";
import { regex } from "./text.js";

/** The issue of a table row, and its conditions. */
interface Row extends Risk {
  conditions: string[];
}

/** Categories of programs with a help or dry-run flag, which then change nothing. */
const TRIED: Category[] = ["cloud", "supply-chain"];
const ASKED: Category[] = [...TRIED, "disks", "system", "processes", "remote-access", "exfiltration"];

/** The table's objections to a call, one for each category. */
export function issuesOf(call: Call): Risk[] {
  const found = new Map<Category, Risk>();
  const { args, plain } = call;
  const isBare = plain.length === 1 && /^(version|help)$/.test(plain[0] ?? "");
  const isQuestion =
    isBare || hasFlag(args, "--help") || args[0] === "--version" || args.at(-1) === "--version";
  const isTrial = args.some((arg) => /^--dry-?run/.test(arg) && !/=(false|none)$/.test(arg));
  for (const { conditions, category, level, reason } of rowsFor(call.program)) {
    const isAsked = (isQuestion && ASKED.includes(category)) || (isTrial && TRIED.includes(category));
    if (isAsked || found.get(category)?.level === "refuse") continue;
    const name = holding(conditions, call);
    if (name !== undefined) found.set(category, { category, level, reason: reason.replace("{}", name) });
  }
  return [...found.values()];
}

let groups: { category: Category; commands: string; reason: string }[] | undefined;
const known = new Map<string, Row[]>();

/** The table's rows about a program. Parses only the lines that name it. */
export function rowsFor(program: string): Row[] {
  const before = known.get(program);
  if (before !== undefined || program === "") return before ?? [];
  groups ??= Object.entries(RULES).flatMap(([category, text]) =>
    [...text.matchAll(/([\s\S]+?)\s(=\?? .*)\n/g)].map(([, commands = "", reason = ""]) => ({
      category: category as Category,
      commands,
      reason,
    })),
  );
  const rows = groups
    .filter(({ commands }) => commands.includes(program))
    .flatMap(({ category, commands, reason }) =>
      commands.split(/,\s+/).map((command): Row => {
        const level = reason.startsWith("=?") ? "warn" : "refuse";
        return {
          category,
          level,
          reason: reason.replace(/^=\?? /, ""),
          conditions: command.trim().split(" "),
        };
      }),
    )
    .filter(({ conditions }) => conditions[0]?.split("|").includes(program));
  if (rows.length > 0) known.set(program, rows);
  return rows;
}

/** The text for `{}` if all conditions hold. */
function holding([, ...conditions]: string[], call: Call): string | undefined {
  let name = (call.words[0] ?? "").replace(/^.*\//, "");
  let next = 0;
  for (const condition of conditions) {
    const isNot = condition.startsWith("!");
    const text = isNot ? condition.slice(1) : condition;
    const isWord = !/^(\.\.|[-~@])/.test(text);
    const found = isWord ? fitsWord(call.plain[next], text) : holds(text, call);
    if (isWord && !isNot) next += 1;
    if (isNot === (found !== false && found !== undefined)) return undefined;
    if (typeof found === "string") name = found;
  }
  return name;
}

function fitsWord(word: string | undefined, wanted: string): boolean {
  if (word === undefined || wanted === "*") return word !== undefined;
  return wanted.startsWith("^") ? regex(wanted).test(word) : wanted.split("|").includes(word);
}

function holds(condition: string, { args, plain, ...call }: Call): boolean | string | undefined {
  if (condition.startsWith("@")) return PREDICATES[condition.slice(1)]?.({ args, plain, ...call });
  if (condition.startsWith("..")) return plain.some((word) => condition.slice(2).split("|").includes(word));
  if (condition.startsWith("~~")) return regex(condition.slice(2), "i").test(args.join(" "));
  if (condition.startsWith("~")) return args.some((arg) => regex(condition.slice(1)).test(arg));
  const at = condition.indexOf("~");
  if (at === -1) return hasFlag(args, ...condition.split("|"));
  const values = valuesOf(args, ...condition.slice(0, at).split("|"));
  return values.some((value) => regex(condition.slice(at + 1)).test(value));
}
