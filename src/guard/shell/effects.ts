import { afterOptions, plainArgs } from "../args.js";
import { type Call, programOf, type Stream, UNKNOWN } from "../call.js";
import { entryOf } from "../entry.js";
import { processesAmong } from "../every-process.js";
import { namesIn } from "../list.js";
import { printedBy } from "../output.js";
import { resolvePath } from "../paths.js";
import { writtenPaths } from "../writes.js";
import { contentOf } from "./command.js";

/** What a command changes for those after it: folder, variables, arguments, files. */
export function takeEffect(call: Call): void {
  entryOf(EFFECTS, call.program)?.(call);
  rememberFiles(call);
}

const EFFECTS: Record<string, (call: Call) => void> = {
  cd: changeFolder,
  pushd: changeFolder,
  popd: ({ scope }) => {
    scope.cwd = UNKNOWN;
  },
  export: assign,
  declare: assign,
  typeset: assign,
  local: assign,
  readonly: assign,
  read: forget,
  mapfile: forget,
  readarray: forget,
  getopts: forget,
  unset: ({ args, scope }) => {
    for (const name of args) scope.variables.set(name, "");
  },
  set: setArguments,
  shift: ({ scope, args }) => {
    scope.positional = scope.positional?.slice(Number(args[0] ?? 1) || 1);
  },
  printf: ({ args, scope }) => {
    if (args[0] === "-v" && args[1] !== undefined) scope.variables.set(args[1], UNKNOWN);
  },
};

function changeFolder({ args, scope }: Call): void {
  const [folder] = plainArgs(args);
  if (folder === undefined) scope.cwd = args.includes("-") ? UNKNOWN : scope.place.home;
  else scope.cwd = folder === "-" ? UNKNOWN : resolvePath(folder, scope);
  scope.variables.set("PWD", scope.cwd);
}

function assign({ args, scope }: Call): void {
  for (const arg of args) {
    const at = arg.indexOf("=");
    if (at > 0) scope.variables.set(arg.slice(0, at), arg.slice(at + 1));
  }
}

function forget({ args, scope, input, program }: Call): void {
  const valued = ["-p", "-n", "-d", "-u", "-N", "-i", ...(program === "read" ? ["-t"] : [])];
  const names = plainArgs(args, valued);
  const value = program === "read" && names.length === 1 ? input?.text?.trimEnd() : undefined;
  for (const name of names) {
    scope.variables.set(name, value ?? UNKNOWN);
    scope.origins.set(name, processesAmong(input?.from ?? []));
  }
}

function setArguments({ args, scope }: Call): void {
  const at = args.indexOf("--");
  const rest = at === -1 ? afterOptions(args, ["-o"]) : args.slice(at + 1);
  if (at !== -1 || rest.length > 0) scope.positional = rest;
}

/** A file that is written and run in one go is judged by what was written. */
function rememberFiles(call: Call): void {
  const { scope, program, args } = call;
  if (CHANGES_LITTLE.has(program) && call.redirections.length === 0) return;
  const content: Stream = COPIES.has(program) ? copyOf(plainArgs(args)[0] ?? "", call) : printedBy(call);
  for (const path of writtenPaths(call)) scope.files.set(resolvePath(path, scope), content);
}

/** A program under another name does what it did before. */
function copyOf(source: string, { scope }: Call): Stream {
  const content = contentOf(source, scope);
  const isProgram = /^\/(usr\/)?(local\/)?s?bin\/[^/]+$/.test(resolvePath(source, scope));
  return isProgram ? { ...content, program: programOf(source) } : content;
}

const COPIES = namesIn("cp mv ln install");
const CHANGES_LITTLE = namesIn("chmod chown touch rm sed mkdir rsync tar unzip truncate");
