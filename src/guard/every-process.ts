import { hasFlag, plainArgs, valuesOf } from "./args.js";
import type { Call } from "./call.js";
import { namesIn } from "./list.js";
import { tooWide } from "./process-patterns.js";

/** Stands among the programs that an output comes from, while it holds the numbers of processes that nobody chose. */
export const EVERY_PROCESS = "every process";

/** Whether the output of a command holds them. */
export function showsEveryProcess(call: Call): boolean {
  if (lists(call.program, call.args)) return true;
  if (!isToldOfEvery(call)) return false;
  return PASSES_ON.has(call.program) && !isChoosing(call);
}

/** Whether it is given them: in its words, in a variable, or on its input, as `xargs` does. */
export function isToldOfEvery({ substituted, variables, input }: Call): boolean {
  return [substituted, variables, input?.from ?? []].some((names) => names.includes(EVERY_PROCESS));
}

/** What of a list of programs has to be remembered of a variable. */
export function processesAmong(names: readonly string[]): string[] {
  return names.includes(EVERY_PROCESS) ? [EVERY_PROCESS] : [];
}

function lists(program: string, args: string[]): boolean {
  switch (program) {
    case "ps":
      return isOfAll(args);
    case "top":
      return !hasFlag(args, "p");
    case "pgrep":
      return tooWide(args) !== undefined;
    case "pidof":
      return plainArgs(args).some((name) => tooWide([name]) !== undefined);
    case "lsof":
      return !hasFlag(args, "ipc") && plainArgs(args, ["-u", "-g"]).every((path) => path === "/");
    case "ls":
    case "find":
    case "echo":
      return args.some((arg) => arg === "/proc" || arg.startsWith("/proc/"));
    default:
      return program === "seq";
  }
}

/** `-e` and `ax` show all, whatever else is asked for. */
function isOfAll(args: string[]): boolean {
  const options = args.map(withoutColumns);
  const words = plainArgs(options, ["-C", "-p", "-q", "-o", "-u", "-U", "-g", "-G", "-t"]);
  if (hasFlag(options, "eA") || words.some((word) => /^[a-z]*[ax][a-z]*$/.test(word))) return true;
  const names = valuesOf(args, "-C").flatMap((value) => value.split(","));
  const numbers = [...valuesOf(args, "-p", "-q", "--pid", "--ppid", "--quick-pid"), ...args.filter(isNumber)];
  if (names.length === 0 && numbers.length === 0) return true;
  const isOfFirst = numbers.some((value) => value.split(",").some((number) => Number(number) === 1));
  return isOfFirst || names.some((name) => tooWide([name]) !== undefined);
}

/** `-eopid=` names no process. */
function withoutColumns(arg: string): string {
  return arg.startsWith("--") ? arg : (arg.split("o")[0] ?? "");
}

function isNumber(arg: string): boolean {
  return arg !== "" && Number.isInteger(Number(arg));
}

const PASSES_ON = namesIn(`
  awk gawk mawk cut tr sort uniq sed cat tail tac column paste xargs echo printf tee grep egrep fgrep rg nl
`);

/** Whether it leaves only those that fit a name. */
function isChoosing({ program, args }: Call): boolean {
  const [first = ""] = plainArgs(args, ["-F", "-m"]);
  if (program === "tail") return !args.some((arg) => arg.includes("+"));
  if (program.endsWith("awk") || program === "sed") return quotedIn(first).some(isName);
  if (!program.endsWith("grep") && program !== "rg") return false;
  const patterns = [...valuesOf(args, "-e", "--regexp"), first];
  return !hasFlag(args, "v", "--invert-match") && patterns.some(isName);
}

/** `/name/` and `== "name"`. */
function quotedIn(text: string): string[] {
  const found = text.matchAll(/\/([^/]+)\/|[~=]\s*(?:"([^"]+)"|([A-Za-z]\w*))/g);
  return [...found].map(([, slashed, quoted, variable]) => slashed ?? quoted ?? variable ?? "");
}

/** Blanks are in every line, and so is `root` in many. */
function isName(pattern: string): boolean {
  return tooWide([pattern]) === undefined;
}
