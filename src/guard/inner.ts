import { afterOptions, type Call, plainArgs, programOf, valuedOf, valuesOf, variablesIn } from "./call.js";
import { code } from "./code.js";
import { ORDINARY, REMOVERS, TOOLS, WRAPPERS, WRITERS } from "./programs.js";
import { rowsFor } from "./rows.js";
import { evaluated, fileScript, type Inner, isInterpreter, shellScripts, sourced } from "./scripts.js";
import { foundBy } from "./shell/output.js";
import { namesIn, rowsIn, UNKNOWN } from "./text.js";

const MOST_FIELDS = 50;

/** What a command runs in turn, one level deeper. */
export function lookThrough(call: Call): Inner[] {
  const { program, words, args } = call;
  const special = Object.hasOwn(SPECIAL, program) ? SPECIAL[program] : undefined;
  const own = special ?? (isInterpreter(program) ? code : () => []);
  return [
    ...own(call),
    ...wrapped(call),
    ...(words[0]?.includes("/") ? fileScript(call, words[0], args) : []),
    ...(isKnown(program) || call.scope.functions.has(program) ? [] : guessed(args)),
  ];
}

const SPECIAL: Record<string, (call: Call) => Inner[]> = {
  sh: shellScripts,
  eval: evaluated,
  source: sourced,
  ".": sourced,
  trap: ({ plain }) => (plain.length > 1 ? scripts(plain.slice(0, 1)) : []),
  alias: ({ args }) =>
    scripts(args.filter((arg) => arg.includes("=")).map((arg) => arg.slice(arg.indexOf("=") + 1))),
  env: ({ args }) => withAssignments(afterOptions(args, valuedOf("env"))),
  xargs,
  find: ({ args }) => executed(args, foundBy(args)).map((words) => ({ words })),
  ssh: remote,
  cmake: ({ args: [flag, tool = "", ...rest] }) =>
    flag === "-E" ? [{ words: [...(rowsIn(TOOLS, tool)[0] ?? [tool]), ...rest] }] : [],
};

function scripts(texts: (string | undefined)[]): Inner[] {
  return texts.flatMap((script) => (script === undefined || script.trim() === "" ? [] : [{ script }]));
}

/** What the table of wrappers finds. */
function wrapped({ program, args }: Call): Inner[] {
  if (program === "command" && /^-[pvV]*[vV]/.test(args[0] ?? "")) return [];
  return rowsIn(WRAPPERS, program).flatMap((row) => {
    const kind = row.at(-1) ?? "";
    if (kind.startsWith("-")) return scripts(textsOf(args, kind.split("|")));
    const rest = wordsAfter(row, program, args);
    if (kind.startsWith("text"))
      return scripts([
        plainArgs(rest, valuedOf(program))
          .filter((word) => word !== "Enter")
          .join(" "),
      ]);
    return program === "npm" && rest.length === 1 ? scripts(rest) : withAssignments(rest);
  });
}

/** The words after a program's options, and after as many words of its own as its row says. */
function wordsAfter(row: string[], program: string, args: string[]): string[] {
  const valued = valuedOf(program);
  const given = afterOptions(args, valued);
  const verbs = row.length > 1 ? row[0]?.slice(1).split("|") : undefined;
  if (verbs !== undefined && !verbs.includes(given[0] ?? "")) return [];
  const rest = verbs === undefined ? given : afterOptions(given.slice(1), valued);
  return rest.slice(Number(/\d$/.exec(row.at(-1) ?? "")?.[0] ?? 0));
}

/** Values of flags; their letters may be grouped (`-qc`). */
function textsOf(args: string[], flags: string[]): string[] {
  const joined = args.filter((arg) => /^-[a-z]{2,}$/.test(arg) && flags.includes(`-${arg.at(-1)}`));
  return valuesOf(args, ...flags, ...joined).map((text) => text.replace(/^exec=/, ""));
}

/** `A=b cmd`. */
function withAssignments(words: string[]): Inner[] {
  const from = words[0] === "--" ? 1 : 0;
  const at = words.findIndex((word, index) => index >= from && !/^[A-Za-z_]\w*=/.test(word));
  if (at === -1 || words[at]?.startsWith("-")) return [];
  return [{ words: words.slice(at), assignments: variablesIn(words.slice(from, at)) }];
}

/** `find … -exec cmd {} ;`, with a file below its root in place of the braces. */
function executed(args: string[], found: string): string[][] {
  return args.flatMap((arg, index) => {
    if (!/^-(exec|execdir|ok|okdir)$/.test(arg)) return [];
    const rest = args.slice(index + 1);
    const end = rest.findIndex((word, at) => word === ";" || (word === "+" && rest[at - 1] === "{}"));
    return [(end === -1 ? rest : rest.slice(0, end)).map((word) => word.replaceAll("{}", found))];
  });
}

/** `… | xargs cmd`. */
function xargs({ args, input }: Call): Inner[] {
  const given = afterOptions(args, valuedOf("xargs"));
  const words = given.length === 0 ? ["echo"] : given;
  const options = args.slice(0, args.length - given.length);
  const [mark] = valuesOf(options, "-I", "--replace");
  const found = input?.text?.split(mark === undefined ? /[\s\0]+/ : /\n+/) ?? [UNKNOWN];
  const fields = found
    .map((field) => field.trim().replace(/^(["'])(.*)\1$/, "$2"))
    .filter((field) => field !== "")
    .slice(0, MOST_FIELDS);
  if (mark === undefined) return [{ words: [...words, ...fields] }];
  return fields.map((field) => ({ words: words.map((word) => word.replaceAll(mark || "{}", field)) }));
}

function remote({ args, input }: Call): Inner[] {
  const proxies = valuesOf(args, "-o").map((option) => /^ProxyCommand[ =](.*)$/is.exec(option)?.[1]);
  const [, ...after] = afterOptions(args, valuedOf("ssh"));
  const script = after.length === 0 ? (input?.text ?? "") : after.filter((word) => word !== "--").join(" ");
  return [...scripts(proxies), ...scripts([script]).map((inner) => ({ ...inner, cwd: "/home/remote" }))];
}

/** Whether the tables say what a program does with its words. */
function isKnown(program: string): boolean {
  if (program === "" || ORDINARY.has(program) || isInterpreter(program) || Object.hasOwn(SPECIAL, program))
    return true;
  return (
    [WRITERS, REMOVERS, WRAPPERS].some((table) => rowsIn(table, program).length > 0) ||
    rowsFor(program).length > 0
  );
}

/** Names of programs that are ordinary words after most programs. */
const COMMON = namesIn(`
  at env set init format mount mail host export batch halt passwd serve source test local read np service route date hash
  install script time watch history config print open run exec up down reg skill go make node code ip login help info
  command task note history type file port cut join complete wait read return exit pass say locate expect fetch
`);

/** An unknown program may run its words, so the guard judges them as a command. */
function guessed(args: string[]): Inner[] {
  const spelled = args.flatMap((arg, index): Inner[] => {
    const first = arg.trim().split(/\s/)[0] ?? "";
    const isProse = /^-(m|t|p|-(message|title|body|text|prompt|description|name))$/.test(
      args[index - 1] ?? "",
    );
    if (isProse || first.startsWith("-") || COMMON.has(first) || !isKnown(programOf(first) || ".")) return [];
    return /\s/.test(arg)
      ? [{ script: arg, tentative: true }]
      : [{ words: args.slice(index), tentative: true }];
  });
  return spelled.slice(0, 3);
}
