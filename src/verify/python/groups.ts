import { type Reading, take } from "./reading.js";

const NAME = "([\\p{L}_][\\p{L}\\p{N}_]*)";

type Start = [looks: RegExp, means: (found: RegExpExecArray, reading: Reading) => string];

const STARTS: Start[] = [
  [/^\((?!\?)/, (_, reading) => counted(reading, "(")],
  [new RegExp(`^\\(\\?P?<${NAME}>`, "u"), ([, name], reading) => counted(reading, `(?<${name}>`)],
  [new RegExp(`^\\(\\?P=${NAME}\\)`, "u"), ([, name]) => `\\k<${name}>`],
  [/^\(\?#[^)]*\)/, () => ""],
  [/^\(\?(?::|=|!|<=|<!)/, ([start]) => start],
  [/^\(\?[aiLmsux]*(?:-[imsx]+)?:/, ([start]) => withOwnFlags(start)],
];

/** What an opening bracket begins. */
export function readGroup(reading: Reading): string {
  for (const [looks, means] of STARTS) {
    const found = take(reading, looks);
    if (found !== null) return means(found, reading);
  }
  throw new Error(whyNot(reading.source.slice(reading.at)));
}

function counted(reading: Reading, start: string): string {
  reading.groups += 1;
  return start;
}

/** Node 23 can do it, Node 20 cannot. */
function withOwnFlags(start: string): string {
  try {
    new RegExp(`${start})`, "u");
    return start;
  } catch {
    throw new Error(`this Node cannot do flags for a part, ${start}…); put flags for the whole at the start`);
  }
}

const REFUSED: [looks: RegExp, why: string][] = [
  [/^\(\?#/, "a comment (?# without its )"],
  [/^\(\?\(/, "JavaScript has no conditional group (?(…)…)"],
  [/^\(\?>/, "JavaScript has no atomic group (?>…)"],
  [/^\(\?[aiLmsux]+\)/, "flags for the whole belong at the start"],
];

function whyNot(rest: string): string {
  const refused = REFUSED.find(([looks]) => looks.test(rest));
  return refused?.[1] ?? `unknown kind of group ${rest.slice(0, 4)}`;
}
