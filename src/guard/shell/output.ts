import { afterOptions, type Call, type Scope, type Stream, valuesOf } from "../call.js";
import { resolvePath } from "../paths.js";
import { namesIn, UNKNOWN } from "../text.js";

/** Programs that print what they read, or a part of it. */
const FILTERS = namesIn("cat head tail sort uniq grep egrep fgrep tee column shuf tac pv");
const SILENT = namesIn("true : cd test [ set export read mkdir touch rm chmod");

/** What a command prints, where that can be known without running it. */
export function printedBy(call: Call): Stream {
  const { program, args, input } = call;
  // `cat x.sh | sh` is as good as `sh x.sh`.
  const isScript = program === "cat" && args.length > 0 && args.every((arg) => /\.(ba|z)?sh$/.test(arg));
  // A choice of lines by their text is a search, whatever program makes it.
  const choice =
    program === "ps" ? /(^| )-(-?p|C)/ : /^(awk|sed)$/.test(program) ? /\/[\w[]|[~=]\s*["\w]/ : /^(?!)/;
  const isSearch = choice.test(args.join(" "));
  const name = program === "git" ? `git ${args[0] ?? ""}` : isSearch ? "grep" : program;
  const from = [name, ...(input?.from ?? []), ...(isScript ? ["<"] : [])];
  return { text: SILENT.has(program) ? "" : textOf(call), from };
}

/** What a file holds, if the command itself has written it. */
export function contentOf(path: string, scope: Scope): Stream {
  if (path === "/dev/null") return { text: "", from: [] };
  const kept = scope.files.get(path) ?? scope.files.get(resolvePath(path, scope));
  return kept ?? { text: undefined, from: ["<"] };
}

function textOf({ program, args, input, scope, plain }: Call): string | undefined {
  const [first = "."] = plain;
  switch (program) {
    case "":
      return input?.text ?? "";
    case "echo":
      return echoed(args);
    case "printf":
      return formatted(args[0] === "--" ? args.slice(1) : args);
    case "pwd":
      return scope.cwd;
    case "ls":
      return plain.length === 0
        ? "*"
        : plain.map((path) => (/[*?]/.test(path) ? path : `${path}/*`)).join("\n");
    case "find":
      return foundBy(args);
    case "realpath":
    case "readlink":
      return resolvePath(first, scope);
    case "git":
      return gitPath(args, scope.place.workspace);
    default:
      return FILTERS.has(program) ? filtered(program, plain, input, scope) : undefined;
  }
}

function filtered(
  program: string,
  plain: string[],
  input: Stream | undefined,
  scope: Scope,
): string | undefined {
  const files = /grep$|^tee$/.test(program) ? [] : plain.filter((arg) => arg !== "-");
  if (files.length === 0) return input?.text;
  const texts = files.map((file) => contentOf(file, scope).text);
  return texts.every((text) => text !== undefined) ? texts.join("") : undefined;
}

/** The folder that `find` begins at. */
export function findRoot(args: string[]): string {
  const [root = "."] = afterOptions(args, ["-D"]);
  return /^[-(!]/.test(root) ? "." : root;
}

/** A file that `find` comes to, by its name if that is given. */
export function foundBy(args: string[]): string {
  const [name = UNKNOWN] = valuesOf(args, "-name", "-iname");
  return `${findRoot(args).replace(/\/$/, "")}/${name}`;
}

function gitPath([verb, what = "", path = ""]: string[], workspace: string): string | undefined {
  if (verb !== "rev-parse") return undefined;
  if (what === "--show-toplevel") return workspace;
  if (what === "--git-path") return `${workspace}/.git/${path}`;
  return /^--(absolute-)?git-(common-)?dir$/.test(what) ? `${workspace}/.git` : undefined;
}

/** What `echo` prints. */
function echoed(args: string[]): string {
  const from = args.findIndex((arg) => !/^-[neE]+$/.test(arg));
  const flags = args.slice(0, from === -1 ? args.length : from).join("");
  const text = (from === -1 ? [] : args.slice(from)).join(" ");
  return `${flags.includes("e") ? unescaped(text) : text}\n`;
}

/** What `printf` prints. */
function formatted([format = "", ...values]: string[]): string {
  const left = values.slice(0, 64);
  let text = "";
  do {
    text += unescaped(format).replace(
      /%(%|[-+ #0]*\d*(?:\.\d+)?([a-zA-Z]))/g,
      (_, all: string, kind = "") => {
        const value = all === "%" ? "%" : (left.shift() ?? "");
        return kind === "b" ? unescaped(value) : value;
      },
    );
  } while (left.length > 0 && /%[^%]/.test(format));
  return format === "-v" ? "" : text;
}

const ESCAPE = /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|0?([0-7]{1,3})|([\s\S]))/g;

function unescaped(text: string): string {
  return text.replace(ESCAPE, (whole, hex?: string, unicode?: string, octal?: string, letter?: string) => {
    if (letter !== undefined) return { n: "\n", t: "\t", r: "\r", "\\": "\\" }[letter] ?? whole;
    const code = octal === undefined ? Number.parseInt(hex ?? unicode ?? "0", 16) : Number.parseInt(octal, 8);
    return String.fromCharCode(code);
  });
}
