import { basename, dirname } from "node:path";
import { afterOptions, plainArgs, valuesOf } from "./args.js";
import { type Call, type Stream, UNKNOWN } from "./call.js";
import { list } from "./list.js";
import { resolvePath } from "./paths.js";
import { echoed, formatted } from "./printed-text.js";
import { contentOf } from "./shell/command.js";

/** Programs that print what they read, or a part of it. */
const FILTERS = new Set(
  list(`
  cat head tail sort uniq grep tee column shuf tac pv
`),
);

/** What a command prints, where that can be known without running it. */
export function printedBy(call: Call): Stream {
  const { program, args, input } = call;
  const from = [
    program === "git" ? `git ${args[0] ?? ""}` : program,
    ...(input?.from ?? []),
    ...(isScriptShown(call) ? ["<"] : []),
  ];
  if (SILENT.has(program)) return { text: "", from };
  return { text: textOf(program, args, input, call), from };
}

/** `cat x.sh | sh` is as good as `sh x.sh`. */
function isScriptShown({ program, args }: Call): boolean {
  return program === "cat" && args.length > 0 && args.every((arg) => /\.(ba|z)?sh$/.test(arg));
}

const SILENT = new Set(
  list(`
   true : cd test [ set export read mkdir touch rm chmod
`),
);

function textOf(program: string, args: string[], input: Stream | undefined, call: Call): string | undefined {
  if (program === "echo") return `${echoed(args)}\n`;
  if (program === "printf") return formatted(args[0] === "--" ? args.slice(1) : args);
  if (program === "pwd") return `${call.scope.cwd}\n`;
  if (program === "ls") return `${listedBy(args).join("\n")}\n`;
  if (program === "find") return `${foundBy(args)}\n`;
  if (/^(realpath|readlink|dirname|basename)$/.test(program)) return pathPart(program, plainArgs(args), call);
  if (program === "git") return gitPath(args, call);
  if (program === "yes") return `${args.join(" ")}\n`;
  if (!FILTERS.has(program)) return undefined;
  const files = program === "grep" || program === "tee" ? [] : plainArgs(args).filter((arg) => arg !== "-");
  if (files.length === 0) return input?.text;
  const texts = files.map((file) => contentOf(file, call.scope).text);
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

function pathPart(program: string, [path = ".", ending = ""]: string[], { scope }: Call): string {
  if (program === "dirname") return `${dirname(path)}\n`;
  return `${program === "basename" ? basename(path, ending) : resolvePath(path, scope)}\n`;
}

/** Folders that git tells. */
function gitPath(args: string[], { scope }: Call): string | undefined {
  if (args[0] !== "rev-parse") return undefined;
  if (args[1] === "--show-toplevel") return `${scope.place.workspace}\n`;
  if (args[1] === "--git-path") return `${scope.place.workspace}/.git/${args[2] ?? ""}\n`;
  const isFolder = /^--(absolute-)?git-(common-)?dir$/.test(args[1] ?? "");
  return isFolder ? `${scope.place.workspace}/.git\n` : undefined;
}
