import { plainArgs, valuesOf } from "../args.js";
import { UNKNOWN } from "../call.js";
import { foundBy } from "../output.js";
import { contentOf } from "../shell/command.js";
import type { Inner, LookThrough } from "./inner.js";

const MOST_FIELDS = 50;
const XARGS_VALUED =
  /^-([IiLlnPsdEae]|-(max-args|max-procs|max-lines|delimiter|arg-file|replace|eof|max-chars))$/;

/** `… | xargs cmd`. */
export const xargs: LookThrough = ({ args, input: read, scope }) => {
  const at = args.findIndex(
    (arg, index) => !arg.startsWith("-") && !XARGS_VALUED.test(args[index - 1] ?? ""),
  );
  const words = at === -1 ? ["echo"] : args.slice(at);
  const options = at === -1 ? args : args.slice(0, at);
  const [file] = valuesOf(options, "-a", "--arg-file");
  const input = file === undefined ? read : contentOf(file, scope);
  const isWhole = options.some((arg) => /^(-\w*0|--null|-d.*|--delimiter.*)$/.test(arg));
  const [mark] = [
    ...valuesOf(options, "-I"),
    ...valuesOf(options, "--replace"),
    ...(options.some((arg) => /^-i$/.test(arg)) ? ["{}"] : []),
  ];
  const fields = fieldsOf(input?.text, isWhole ? /\0+/ : mark === undefined ? /\s+/ : /\n+/);
  if (mark === undefined) return [{ words: [...words, ...fields] }];
  return fields.map((field) => ({ words: words.map((word) => word.replaceAll(mark || "{}", field)) }));
};

function fieldsOf(text: string | undefined, separator: RegExp): string[] {
  if (text === undefined) return [UNKNOWN];
  return text
    .split(separator)
    .map((field) => field.trim())
    .map((field) => (/^(["']).*\1$/.test(field) ? field.slice(1, -1) : field))
    .filter((field) => field !== "")
    .slice(0, MOST_FIELDS);
}

/** `find … -exec cmd {} ;`, with a file below its root for the braces. */
export const find: LookThrough = ({ args, scope }) => {
  const found = foundBy(args);
  const inner: Inner[] = [];
  for (const [index, arg] of args.entries()) {
    if (!/^-(exec|execdir|ok|okdir)$/.test(arg)) continue;
    const rest = args.slice(index + 1);
    const end = rest.findIndex((word, at) => word === ";" || (word === "+" && rest[at - 1] === "{}"));
    const words = (end === -1 ? rest : rest.slice(0, end)).map((word) => word.replaceAll("{}", found));
    if (words.length > 0) inner.push({ words, cwd: scope.cwd });
  }
  return inner;
};

export const fd: LookThrough = ({ args }) => {
  const at = args.findIndex((arg) => /^(-x|-X|--exec|--exec-batch)$/.test(arg));
  return at === -1 ? [] : [{ words: args.slice(at + 1).map((word) => word.replace(/\{[./]*\}/g, UNKNOWN)) }];
};

export const tar: LookThrough = ({ args }) => {
  const actions = valuesOf(args, "--checkpoint-action").map((action) => /^exec=(.*)$/s.exec(action)?.[1]);
  const programs = valuesOf(
    args,
    "--to-command",
    "-I",
    "--use-compress-program",
    "--rsh-command",
    "--info-script",
    "-F",
  );
  return [...actions, ...programs]
    .filter((script) => script !== undefined && script !== "")
    .map((script) => ({ script: script ?? "" }));
};

export const rsync: LookThrough = ({ args }) =>
  valuesOf(args, "-e", "--rsh", "--rsync-path").map((script) => ({ script }));

const LONGEST = 2000;

/** The `e` command and flag of sed run a shell. */
export const sed: LookThrough = ({ args }) => {
  const expressions = [
    ...valuesOf(args, "-e", "--expression"),
    ...plainArgs(args, ["-e", "-f", "--expression", "--file"]).slice(0, 1),
  ];
  return expressions
    .map((text) => text.slice(0, LONGEST))
    .flatMap((text) => {
      const [, script] = /(?:^|[;\n{}]|\d|\$|\/)\s*e\s+([^\n]+)/.exec(text) ?? [];
      const [, , replacement] =
        /^\d*,?\$?s(.)(?:\\.|(?!\1)[^\\])*\1((?:\\.|(?!\1)[^\\])*)\1[gip0-9]*e[gip0-9]*\s*$/s.exec(text) ??
        [];
      return [script, replacement]
        .filter((one) => one !== undefined)
        .map((one) => ({ script: (one ?? "").replaceAll("\\/", "/") }));
    });
};

export const vim: LookThrough = ({ args }) => {
  const commands = [
    ...valuesOf(args, "-c", "--cmd"),
    ...args.filter((arg) => arg.startsWith("+")).map((arg) => arg.slice(1)),
  ];
  return commands.flatMap((text): Inner[] => {
    const [, script] =
      /^\s*:?\s*(?:silent!?\s+)?(?:%|\d*,?\d*)!(.*)$/s.exec(text) ??
      /system\(\s*['"](.*?)['"]\s*\)/s.exec(text) ??
      [];
    const [, path] = /^\s*:?\s*(?:w|wq|write|sav|saveas|up|x)!?\s+(\S.*)$/s.exec(text) ?? [];
    if (path !== undefined) return [{ words: ["tee", path] }];
    return script === undefined ? [] : [{ script }];
  });
};
