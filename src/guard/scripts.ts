import { afterOptions, type Call, type Stream, type Variable } from "./call.js";
import { type Risk, refuse } from "./finding.js";
import { contentOf } from "./shell/output.js";
import { isUnknown, namesIn } from "./text.js";

/** What a command runs in turn: words, or a script. */
export interface Inner {
  words?: string[];
  assignments?: Variable[];
  script?: string;
  /** `$1`, `$2`, … of a script. */
  positional?: string[];
  /** Runs in the same shell, so that its changes are visible afterwards. */
  same?: boolean;
  /** Perhaps not a command: do not refuse it because the guard cannot understand it. */
  tentative?: boolean;
  cwd?: string;
}

/** Programs other than shells that run what they read. */
const INTERPRETERS = namesIn(`
  python node deno bun perl ruby php lua luajit tclsh R Rscript osascript expect groovy julia guile irb elixir awk emacs
`);
/** Programs that download. */
const FETCHERS = namesIn("curl wget fetch aria2c http lynx w3m nc ssh scp ftp dig nslookup socat telnet");
const DECODERS = /^(base64|xxd|openssl|gpg|tr|rev|gunzip|zcat|uudecode)$/;
/** Programs whose output is meant for `eval`. */
const SETUP = namesIn(`
  ssh-agent direnv pyenv rbenv nodenv goenv fnm mise asdf brew conda mamba micromamba minikube opam starship zoxide
  docker-machine dircolors lesspipe ralph gh kubectl helm fzf uv poetry rustup npm pip
`);

export function isInterpreter(program: string): boolean {
  return INTERPRETERS.has(program);
}

const GIVEN = /^(-c|-e|-m|-r|-p|-f|-E|-n|--eval|--print|--help|--version|-V|-v|-h|--check|-[a-z]*[pn]e)$/;

/** Whether a program reads its instructions from stdin. */
function readsProgram({ program, args }: Call): boolean {
  const isShell = program === "sh";
  if (!isShell && (!isInterpreter(program) || program === "awk")) return false;
  const given = isShell ? /^-[a-zA-Z]*c$|^--?(version|help|command)$/i : GIVEN;
  if (args.some((arg) => given.test(arg))) return false;
  if (isShell && args.some((arg) => /^-[a-z]*s$/.test(arg))) return true;
  const [script = "-"] = afterOptions(args, ["-o", "-O", "-W", "-X", "-I", "--require", "--input-type"]);
  return script === "-" || script === "/dev/stdin" || (!isShell && /^(run|repl)$/.test(script));
}

/** What a shell or an interpreter reads as its program. */
export function readScript(call: Call): string | undefined {
  return readsProgram(call) ? call.input?.text : undefined;
}

/** `… | sh`, `sh < <(…)`: the guard judges a known text as a script. */
export function fedIssue(call: Call): Risk | undefined {
  const { input, program } = call;
  if (input === undefined || !readsProgram(call)) return undefined;
  const fetched = fetchedIssue(call);
  if (fetched !== undefined) return fetched;
  // `sh < file` equals `sh file`.
  if (input.from.includes("<") && input.from.every((name) => name === "<" || name === "cat"))
    return undefined;
  const isUnseen = input.text === undefined || (program === "sh" && isOpaque(input.text));
  return isUnseen ? refuse("obfuscation", `${program} runs what nobody has seen`) : undefined;
}

function fetchedIssue({ substituted, input }: Call): Risk | undefined {
  const fetcher = [...substituted, ...(input?.from ?? [])].find((program) => FETCHERS.has(program));
  return fetcher === undefined ? undefined : refuse("exfiltration", `it runs what ${fetcher} fetches`);
}

/** `sh -c TEXT`, `sh FILE`, `… | sh`, `sh <<EOF`. */
export function shellScripts(call: Call): Inner[] {
  const { args } = call;
  const at = args.findIndex((arg) => /^-[a-zA-Z]*c$|^--?command$/i.test(arg));
  if (at !== -1) {
    const [text = "", , ...positional] = afterOptions(args.slice(at + 1), ["-o"]);
    return isOpaque(text) ? unseen(call, text) : [{ script: text, positional }];
  }
  const read = readScript(call);
  if (read !== undefined) return [{ script: read, positional: [] }];
  const [file, ...rest] = afterOptions(args, ["-o", "-O"]);
  return file === undefined ? [] : fileScript(call, file, rest);
}

/** Whether the text is entirely unknown. */
export function isOpaque(text: string): boolean {
  const first = text.trim().split(/[\s;|&]/)[0] ?? "";
  return isUnknown(first) && !/\/[\w.-]+$/.test(first);
}

export function unseen(call: Call, text: string): [] {
  const issue = fetchedIssue(call) ?? refuse("obfuscation", "it runs text that nobody has seen");
  call.scope.session.report(issue, [call.program, text]);
  return [];
}

/** The guard knows a script that the command itself has just written, but not one that it downloaded. */
export function fileScript({ scope, words }: Call, file: string, positional: string[]): Inner[] {
  const { text, from } = contentOf(file, scope);
  if (text !== undefined) return [{ script: text, positional }];
  const category = from.some((program) => FETCHERS.has(program)) ? "exfiltration" : "obfuscation";
  if (isFetched({ text, from }) || file.startsWith("/dev/fd/"))
    scope.session.report(refuse(category, `it runs ${file}, which ${from[0]} has just brought`), words);
  return [];
}

export function isFetched({ from }: Stream): boolean {
  return from.some((program) => FETCHERS.has(program) || DECODERS.test(program));
}

export function evaluated(call: Call): Inner[] {
  const text = (call.args[0] === "--" ? call.args.slice(1) : call.args).join(" ");
  if (!isOpaque(text)) return [{ script: text, same: true }];
  return isSetup(call.substituted) ? [] : unseen(call, text);
}

function isSetup(programs: string[]): boolean {
  return programs.length > 0 && programs.every((program) => SETUP.has(program));
}

export function sourced(call: Call): Inner[] {
  const [file = "", ...rest] = call.args;
  if (isSetup(contentOf(file, call.scope).from)) return [];
  return fileScript(call, file, rest).map((inner) => ({ ...inner, same: true }));
}
