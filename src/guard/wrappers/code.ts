import { parse } from "unbash";
import { quoteWord } from "../../words.js";
import { afterOptions, valuesOf } from "../args.js";
import type { Call } from "../call.js";
import { contentOf } from "../shell/command.js";
import { removalsIn, unlinkedIn, writesIn } from "./code-files.js";
import type { Inner, LookThrough } from "./inner.js";
import { argumentsAt, literals } from "./literals.js";
import { readsProgram } from "./programs.js";
import { isFetched, isOpaque, reportFetched, unseen } from "./shells.js";
import { suspicions } from "./suspicions.js";

/** One-liners in other languages: the texts in them that are commands or paths are judged as such. */
export const code: LookThrough = (call) => codesOf(call).flatMap((text) => inCode(text, call));

function codesOf(call: Call): string[] {
  const { program, args, input } = call;
  const given = /^(g|m|n|busybox-)?awk$/.test(program)
    ? afterOptions(args, ["-F", "-v", "-f", "-i"]).slice(0, 1)
    : [...codeArgs(args), ...(program === "deno" && args[0] === "eval" ? afterOptions(args.slice(1)) : [])];
  const hidden = program.endsWith("awk") ? undefined : given.find(isOpaque);
  if (hidden !== undefined && isUnseen(call)) unseen(call, hidden);
  const read = readsProgram(call) ? [input?.text ?? ""] : [];
  const [file] =
    given.length + read.length > 0 ? [] : afterOptions(args, ["-m", "-W", "-X", "-r", "--require"]);
  if (file !== undefined) reportFetched(call, file);
  return [...given, ...read, (file !== undefined && contentOf(file, call.scope).text) || ""].filter(
    (text) => text !== "",
  );
}

/** A file that is shown is as good as one that is run. */
function isUnseen({ substituted }: Call): boolean {
  return substituted.length === 0 || isFetched({ text: undefined, from: substituted });
}

function codeArgs(args: string[]): string[] {
  const joined = args.flatMap((arg, index) =>
    /^-[a-zA-Z0-9]*[eEcr]$/.test(arg) ? (args[index + 1] ?? "") : [],
  );
  return [
    ...joined,
    ...valuesOf(args, "--eval", "--execute", "--run"),
    ...args.filter((arg) => /^-e\S/.test(arg)).map((arg) => arg.slice(2)),
    ...valuesOf(args, "-p", "--print")
      .filter((text) => /\W/.test(text))
      .map((text) => `console.log(${text})`),
  ];
}

function inCode(text: string, call: Call): Inner[] {
  const brief = withHome(text.slice(0, LONGEST));
  for (const judged of suspicions(brief)) call.scope.session.report(judged, call.words);
  return [
    ...commandsIn(brief, call.program),
    ...statementsIn(brief),
    ...guesses(brief),
    ...removalsIn(brief),
    ...unlinkedIn(brief),
    ...writesIn(brief),
    ...literals(brief)
      .filter(isPath)
      .map((path) => ({ words: ["cat", path] })),
  ];
}

const HOME =
  /(?:[\w.]{1,40}\.|require\(["'](?:node:)?os["']\)\.)?(?:homedir\(\)|expanduser\(["']~["']\)|process\.env\.HOME|environ\[["']HOME["']\]|ENV\[["']HOME["']\]|Path\.home\(\))\s*(?:\.joinpath\(|[+/.]|,)\s*(["'])\/?/g;

/** The home, however it is asked for, as a shell writes it. */
function withHome(text: string): string {
  return text.replace(HOME, "$1~/");
}

const LONGEST = 20_000;
const RUN =
  /(?:\b(?:system|popen|popen2|popen3|exec(?!ute\b|utemany)\w*|os\.execute|spawn\w*|Popen|run|call|check_call|check_output|getoutput|getstatusoutput|qx|shell_exec|passthru|proc_open|capture2e?|capture3|execSync|execFileSync|spawnSync|do shell script|shell-command\w*(?:-to-string)?|call-process(?:-shell-command)?|start-process|Deno\.Command|\$`)\s*[({["'])/g;

const TICKED = /(?:qx|%x)\s*(?:\{(.*?)\}|\((.*?)\)|\[(.*?)\]|[|!](.*?)[|!])|`([^`]*)`/gs;

function commandsIn(text: string, program: string): Inner[] {
  const calls = [...text.matchAll(RUN), ...renamed(text)]
    .slice(0, 20)
    .map((match) => literals(argumentsAt(text, match.index)));
  // In Python and in comments they quote, and in JavaScript they are texts like others.
  const runsTicks = /^(perl|ruby|php|irb)/.test(program);
  const ticked = runsTicks
    ? [...text.matchAll(TICKED)].map((match) => match.slice(1).findLast(Boolean) ?? "")
    : [];
  const perl = [...text.matchAll(/\b(?:system|exec)\s+(["'])(.*?)\1/gs)].map((match) => match[2] ?? "");
  const awk = [
    ...text.matchAll(/\|&?\s*(?:getline\b)?\s*"((?:[^"\\]|\\.)*)"|"((?:[^"\\]|\\.)*)"\s*\|&?\s*getline/g),
  ].map((match) => match[1] ?? match[2] ?? "");
  const joined = calls.flatMap((found) => (found.length > 1 ? [found.map(quoteWord).join(" ")] : []));
  const opened = [...text.matchAll(/\bopen\b[^;\n]{0,100}?(["'])\s*([^"'|]{1,300})\|\s*\1/g)].map(
    (match) => match[2] ?? "",
  );
  return [...calls.flatMap((found) => found.slice(0, 1)), ...joined, ...ticked, ...perl, ...opened, ...awk]
    .filter((script) => script.trim() !== "" && isCommandLike(script) && isWhole(script))
    .map((script) => ({ script, positional: [] }));
}

/** `from os import system as s; s(…)`, `const { exec: e } = require(…); e(…)`. */
function renamed(text: string): RegExpExecArray[] {
  const names = text.matchAll(
    /\b(?:system|popen|Popen|run|call|check_output|exec|spawn|exec\w*Sync|spawnSync|execFile)\s*(?:\bas\b|:)\s*([A-Za-z_]\w*)/g,
  );
  return [...names]
    .slice(0, 5)
    .flatMap(([, name]) => [...text.matchAll(new RegExp(`\\b${name}\\s*\\(`, "g"))]);
}

/** What a program asks a database for. */
function statementsIn(text: string): Inner[] {
  if (!/\b(drop|delete|truncate|flush\w+)\b/i.test(text)) return [];
  const calls = [...text.matchAll(/\b(?:execute\w*|executescript|query\w*|exec)\s*\(/g)].slice(0, 20);
  const statements = calls.flatMap((match) => literals(argumentsAt(text, match.index)).slice(0, 1));
  return statements.map((statement) => ({ words: ["sqlite3", ":memory:", statement] }));
}

/** What does not parse is text of another kind. */
function isWhole(script: string): boolean {
  return (parse(script).errors ?? []).length === 0;
}

/** Names of functions and modules are no commands; a broken template of another language is none either. */
function isCommandLike(text: string): boolean {
  return /^[\w./~-][\w./~$=-]*(\s|$)/.test(text.trim()) && !/[<>]\/?\w+>/.test(text);
}

const RUNS_ANYTHING =
  /child_process|subprocess|os\.(system|popen|exec)|\bsystem\s*\(|shell_exec|\bexec\b|\bspawn\b/;

/** Where something is run, any text can be what is run. */
function guesses(text: string): Inner[] {
  if (!RUNS_ANYTHING.test(text)) return [];
  const bare = [...text.matchAll(/(?:^|[;\n{])\s*(?:exec|spawn|system)\s+([^"'({;\n][^;\n}]*)/g)].map(
    (match) => match[1] ?? "",
  );
  const texts = literals(text).filter((literal) => /\s/.test(literal) && isCommandLike(literal));
  return [...bare, ...texts].slice(0, 30).map((script) => ({ script, tentative: true, positional: [] }));
}

function isPath(text: string): boolean {
  return (
    /^[~/.]?[\w@.+-]*\/[^\s]*$|^\.[\w.]+$|\.pem$|^id_/.test(text) &&
    text.length < 300 &&
    !/^https?:/.test(text)
  );
}
