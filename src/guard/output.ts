import { basename, dirname } from "node:path";
import { afterOptions, plainArgs, valuesOf } from "./args.js";
import { type Call, type Stream, UNKNOWN } from "./call.js";
import { entryOf } from "./entry.js";
import { EVERY_PROCESS, showsEveryProcess } from "./every-process.js";
import { namesIn } from "./list.js";
import { resolvePath } from "./paths.js";
import { echoed, formatted } from "./printed-text.js";
import { contentOf } from "./shell/command.js";

/** Programs that print what they read, or a part of it. */
const FILTERS = namesIn("cat head tail sort uniq grep tee column shuf tac pv");

/** What a command prints, where that can be known without running it. */
export function printedBy(call: Call): Stream {
  const { program, args, input } = call;
  const from = [
    program === "git" ? `git ${args[0] ?? ""}` : program,
    ...(input?.from.filter((name) => name !== EVERY_PROCESS) ?? []),
    ...(isScriptShown(call) ? ["<"] : []),
    ...(showsEveryProcess(call) ? [EVERY_PROCESS] : []),
  ];
  if (SILENT.has(program)) return { text: "", from };
  return { text: textOf(call), from };
}

/** `cat x.sh | sh` is as good as `sh x.sh`. */
function isScriptShown({ program, args }: Call): boolean {
  return program === "cat" && args.length > 0 && args.every((arg) => /\.(ba|z)?sh$/.test(arg));
}

const SILENT = namesIn("true : cd test [ set export read mkdir touch rm chmod");

const PRINTS: Record<string, (call: Call) => string | undefined> = {
  "": ({ input }) => input?.text ?? "",
  echo: ({ args }) => `${echoed(args)}\n`,
  printf: ({ args }) => formatted(args[0] === "--" ? args.slice(1) : args),
  which: ({ args }) => args.map((name) => `/usr/bin/${name}\n`).join(""),
  pwd: ({ scope }) => `${scope.cwd}\n`,
  ls: ({ args }) => `${listedBy(args).join("\n")}\n`,
  find: ({ args }) => `${foundBy(args)}\n`,
  realpath: ({ args, scope }) => `${resolvePath(plainArgs(args)[0] ?? ".", scope)}\n`,
  readlink: ({ args, scope }) => `${resolvePath(plainArgs(args)[0] ?? ".", scope)}\n`,
  dirname: ({ args }) => `${dirname(plainArgs(args)[0] ?? ".")}\n`,
  basename: ({ args }) => `${basename(plainArgs(args)[0] ?? "", plainArgs(args)[1])}\n`,
  git: ({ args, scope }) => gitPath(args, scope.place.workspace),
  yes: ({ args }) => `${args.join(" ")}\n`,
};

function textOf(call: Call): string | undefined {
  const { program, args, input, scope } = call;
  const prints = entryOf(PRINTS, program);
  if (prints !== undefined || !FILTERS.has(program)) return prints?.(call);
  const files = program === "grep" || program === "tee" ? [] : plainArgs(args).filter((arg) => arg !== "-");
  if (files.length === 0) return input?.text;
  const texts = files.map((file) => contentOf(file, scope).text);
  return texts.every((text) => text !== undefined) ? texts.join("") : undefined;
}

export function findRoot(args: string[]): string {
  const [root = "."] = afterOptions(args, ["-D"]);
  return /^[-(!]/.test(root) ? "." : root;
}

/** All that is in a folder. */
function listedBy(args: string[]): string[] {
  const folders = plainArgs(args, ["-I", "--ignore"]);
  if (folders.length === 0) return ["*"];
  return folders.map((folder) => (/[*?]/.test(folder) ? folder : `${folder}/*`));
}

/** A file that `find` comes to, by its name if that is given. */
export function foundBy(args: string[]): string {
  const [name = UNKNOWN] = valuesOf(args, "-name", "-iname");
  return `${findRoot(args).replace(/\/$/, "")}/${name}`;
}

/** Folders that git tells. */
function gitPath(args: string[], workspace: string): string | undefined {
  if (args[0] !== "rev-parse") return undefined;
  if (args[1] === "--show-toplevel") return `${workspace}\n`;
  if (args[1] === "--git-path") return `${workspace}/.git/${args[2] ?? ""}\n`;
  const isFolder = /^--(absolute-)?git-(common-)?dir$/.test(args[1] ?? "");
  return isFolder ? `${workspace}/.git\n` : undefined;
}
