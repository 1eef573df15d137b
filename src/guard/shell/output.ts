import {
  afterOptions,
  type Call,
  plainArgs,
  type Scope,
  type Stream,
  valuesOf,
  variablesIn,
} from "../call.js";
import { resolvePath } from "../paths.js";
import { writtenPaths } from "../sending.js";
import { namesIn, UNKNOWN } from "../text.js";

/** Programs that print some or all of their input. */
const FILTERS = namesIn("cat head tail sort uniq grep egrep fgrep tee column shuf tac pv");
const SILENT = namesIn("true : cd test [ set export read mkdir touch rm chmod");

/** What a command prints, if the guard can know that without running it. */
export function printedBy(call: Call): Stream {
  const { program, args, input } = call;
  // `cat x.sh | sh` equals `sh x.sh`.
  const isScript = program === "cat" && args.length > 0 && args.every((arg) => /\.(ba|z)?sh$/.test(arg));
  const name = program === "git" ? `git ${args[0] ?? ""}` : program;
  const from = [name, ...(input?.from ?? []), ...(isScript ? ["<"] : [])];
  return { text: SILENT.has(program) ? "" : textOf(call), from };
}

/** The content of a file, if the command itself has written it. */
export function contentOf(path: string, scope: Scope): Stream {
  if (path === "/dev/null") return { text: "", from: [] };
  const kept = scope.files.get(path) ?? scope.files.get(resolvePath(path, scope));
  return kept ?? { text: undefined, from: ["<"] };
}

function textOf(call: Call): string | undefined {
  const { program, args, input, scope } = call;
  switch (program) {
    case "":
      return input?.text ?? "";
    case "echo":
      return echoed(args);
    case "printf":
      return formatted(args[0] === "--" ? args.slice(1) : args);
    case "pwd":
      return scope.cwd;
    case "find":
      return foundBy(args);
    case "git":
      return args.join(" ") === "rev-parse --show-toplevel" ? scope.site.workspace : undefined;
    default:
      return FILTERS.has(program) ? filtered(call) : undefined;
  }
}

function filtered({ program, plain, input, scope }: Call): string | undefined {
  const files = /grep$|^tee$/.test(program) ? [] : plain.filter((arg) => arg !== "-");
  if (files.length === 0) return input?.text;
  const texts = files.map((file) => contentOf(file, scope).text);
  return texts.every((text) => text !== undefined) ? texts.join("") : undefined;
}

/** A file that `find` finds, by name if one is given. */
export function foundBy(args: string[]): string {
  const [first = "."] = afterOptions(args, ["-D"]);
  const [name = UNKNOWN] = valuesOf(args, "-name", "-iname");
  return `${/^[-(!]/.test(first) ? "." : first.replace(/\/$/, "")}/${name}`;
}

/** The guard does not decode letters written as numbers. */
const ENCODED = /\\[xu0-7]/;

function echoed(args: string[]): string | undefined {
  const from = args.findIndex((arg) => !/^-[neE]+$/.test(arg));
  const text = (from === -1 ? [] : args.slice(from)).join(" ");
  const isEscaped = args.slice(0, Math.max(from, 0)).join("").includes("e");
  return isEscaped && ENCODED.test(text)
    ? undefined
    : `${text.replaceAll("\\n", isEscaped ? "\n" : "\\n")}\n`;
}

function formatted([format = "", ...values]: string[]): string | undefined {
  if (format === "-v") return "";
  if (ENCODED.test([format, ...values].join(" "))) return undefined;
  const left = values.slice(0, 64);
  let text = "";
  do {
    text += format.replaceAll("\\n", "\n").replace(/%[-+ #0]*[\d.]*[a-zA-Z]/g, () => left.shift() ?? "");
  } while (left.length > 0 && /%[^%]/.test(format));
  return text;
}

/** What a command changes for those after it: folder, variables, files. */
export function takeEffect(call: Call): void {
  const { program, args, scope } = call;
  if (/^(cd|pushd|popd)$/.test(program)) {
    const [folder = args.includes("-") ? "-" : "~"] = plainArgs(args);
    scope.cwd = program === "popd" || folder === "-" ? UNKNOWN : resolvePath(folder, scope);
    scope.variables.set("PWD", scope.cwd);
  } else if (/^(export|declare|typeset|local|readonly)$/.test(program)) {
    for (const { name, value } of variablesIn(args)) scope.variables.set(name, value);
  } else if (/^(read|mapfile|readarray|getopts)$/.test(program)) takeInput(call);
  rememberFiles(call);
}

function takeInput({ program, args, scope, input }: Call): void {
  const names = plainArgs(args, ["-p", "-n", "-d", "-u", "-N", "-i", ...(program === "read" ? ["-t"] : [])]);
  const value = program === "read" && names.length === 1 ? input?.text?.trimEnd() : undefined;
  for (const name of names) scope.variables.set(name, value ?? UNKNOWN);
}

const CHANGES_LITTLE = namesIn("chmod chown touch rm sed mkdir rsync tar unzip truncate");

/** If a command writes a file and runs it, the guard judges what it wrote. */
function rememberFiles(call: Call): void {
  const { scope, program, plain } = call;
  if (CHANGES_LITTLE.has(program) && call.redirections.length === 0) return;
  const paths = writtenPaths(call);
  if (paths.length === 0) return;
  const content = /^(cp|mv|ln|install)$/.test(program) ? contentOf(plain[0] ?? "", scope) : printedBy(call);
  for (const path of paths) scope.files.set(resolvePath(path, scope), content);
}
