import { afterOptions, plainArgs, valuesOf } from "../args.js";
import { type Call, isUnknown, type Stream } from "../call.js";
import { refuse } from "../finding.js";
import { contentOf } from "../shell/command.js";
import { type Inner, type LookThrough, scriptsOf } from "./inner.js";
import { FETCHERS, readsProgram } from "./programs.js";

/** `sh -c TEXT`, `sh FILE`, `… | sh`, `sh <<EOF`. */
export const shell: LookThrough = (call) => {
  const { args, input } = call;
  const at = args.findIndex((arg) => /^-[a-zA-Z]*c$|^--?command$/i.test(arg));
  if (at !== -1) return commandText(call, args.slice(at + 1));
  const started = valuesOf(args, "--rcfile", "--init-file").flatMap((file) => fileText(call, file, []));
  if (started.length > 0) return started;
  if (readsProgram(call)) return input?.text === undefined ? [] : [{ script: input.text, positional: [] }];
  const [file, ...rest] = afterOptions(args, ["-o", "-O", "+O", "--rcfile", "--init-file"]);
  return file === undefined ? [] : fileText(call, file, rest);
};

function commandText(call: Call, rest: string[]): Inner[] {
  const [text = "", ...positional] = afterOptions(rest, ["-o"]);
  if (isOpaque(text)) unseen(call, text);
  return isOpaque(text)
    ? []
    : [
        {
          script: text,
          positional: positional.slice(1),
          ...(positional[0] !== undefined && { name: positional[0] }),
        },
      ];
}

/** Nothing but what cannot be known. */
export function isOpaque(text: string): boolean {
  const first = text.trim().split(/[\s;|&]/)[0] ?? "";
  return isUnknown(first) && !/\/[\w.-]+$/.test(first);
}

export function unseen(call: Call, text: string): void {
  const fetched = [...call.substituted, ...(call.input?.from ?? [])].find((program) => FETCHERS.has(program));
  const judged =
    fetched === undefined
      ? { ...refuse("it runs text that nobody has seen"), category: "obfuscation" as const }
      : { ...refuse(`it runs what ${fetched} fetches`), category: "exfiltration" as const };
  call.scope.session.report(judged, [call.program, text]);
}

/** A script that the command itself has just written is known. */
export function fileText(call: Call, file: string, positional: string[]): Inner[] {
  const content = contentOf(file, call.scope);
  if (content.text !== undefined) return [{ script: content.text, positional }];
  reportFetched(call, file);
  return [];
}

export function reportFetched(call: Call, file: string): void {
  const content = contentOf(file, call.scope);
  if (content.text === undefined && isFetched(content)) unseenFile(call, file, content);
}

export function isFetched({ from }: Stream): boolean {
  return from.some(
    (program) =>
      FETCHERS.has(program) || /^(base64|xxd|openssl|gpg|tr|rev|gunzip|zcat|uudecode)$/.test(program),
  );
}

function unseenFile({ scope, words }: Call, file: string, { from }: Stream): void {
  const category = from.some((program) => FETCHERS.has(program))
    ? ("exfiltration" as const)
    : ("obfuscation" as const);
  scope.session.report({ ...refuse(`it runs ${file}, which ${from[0]} has just brought`), category }, words);
}

export const evaluated: LookThrough = (call) => {
  const text = call.args.filter((arg, index) => !(index === 0 && arg === "--")).join(" ");
  if (!isOpaque(text)) return [{ script: text, same: true }];
  if (!isSetup(call)) unseen(call, text);
  return [];
};

/** Programs whose output is meant for `eval`. */
const SETUP =
  /^(ssh-agent|direnv|pyenv|rbenv|nodenv|jenv|fnm|mise|rtx|asdf|brew|conda|mamba|micromamba|minikube|opam|starship|zoxide|luarocks|docker-machine|thefuck|dircolors|lesspipe|ralph|gh|kubectl|helm|register-python-argcomplete|podman|goenv|tfenv|dbus-launch|keychain|gpg-agent|atuin|fzf|uv|poetry|rustup|npm|pip|stack|nodebrew|volta|pnpm|perl|resize|tput|vagrant)$/;

function isSetup({ substituted }: Call): boolean {
  return substituted.length > 0 && substituted.every((program) => SETUP.test(program) && program !== "perl");
}

export const sourced: LookThrough = (call) => {
  const [file = "", ...rest] = call.args;
  const isInput = /^\/dev\/(stdin|fd\/0)$/.test(file);
  const content = isInput && call.input !== undefined ? call.input : contentOf(file, call.scope);
  if (isInput) call.scope.files.set(file, content);
  if (content.from.length > 0 && content.from.every((program) => SETUP.test(program))) return [];
  if (content.text === undefined && file.startsWith("/dev/fd/")) unseenFile(call, file, content);
  return fileText(call, file, rest).map((inner) => ({ ...inner, same: true }));
};

export const trapped: LookThrough = ({ args }) => {
  const [text] = plainArgs(args);
  return plainArgs(args).length > 1 ? scriptsOf(text) : [];
};

export const aliased: LookThrough = ({ args }) =>
  scriptsOf(...args.filter((arg) => arg.includes("=")).map((arg) => arg.slice(arg.indexOf("=") + 1)));
