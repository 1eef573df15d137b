import { afterOptions, type Call, plainArgs } from "../call.js";
import { resolvePath } from "../paths.js";
import { namesIn, UNKNOWN } from "../text.js";
import { writtenPaths } from "../writes.js";
import { contentOf, printedBy } from "./output.js";

/** What a command changes for those after it: folder, variables, arguments, files. */
export function takeEffect(call: Call): void {
  const { program, args, plain, scope } = call;
  if (/^(cd|pushd|popd)$/.test(program)) changeFolder(call);
  else if (/^(export|declare|typeset|local|readonly)$/.test(program)) assign(args, scope);
  else if (/^(read|mapfile|readarray|getopts)$/.test(program)) forget(call);
  else if (program === "unset") for (const name of args) scope.variables.set(name, "");
  else if (program === "shift") scope.positional = scope.positional?.slice(Number(args[0] ?? 1) || 1);
  else if (program === "printf" && args[0] === "-v") scope.variables.set(args[1] ?? "", UNKNOWN);
  else if (program === "set") setArguments(args, scope);
  else if (program === "git" && plain[0] === "remote") rememberRemote(plain, scope);
  rememberFiles(call);
}

function changeFolder({ program, args, scope }: Call): void {
  const [folder = args.includes("-") ? "-" : "~"] = plainArgs(args);
  scope.cwd = program === "popd" || folder === "-" ? UNKNOWN : resolvePath(folder, scope);
  scope.variables.set("PWD", scope.cwd);
}

function assign(args: string[], scope: Call["scope"]): void {
  for (const arg of args) {
    const at = arg.indexOf("=");
    if (at > 0) scope.variables.set(arg.slice(0, at), arg.slice(at + 1));
  }
}

function forget({ args, scope, input, program }: Call): void {
  const names = plainArgs(args, ["-p", "-n", "-d", "-u", "-N", "-i", ...(program === "read" ? ["-t"] : [])]);
  const value = program === "read" && names.length === 1 ? input?.text?.trimEnd() : undefined;
  for (const name of names) {
    scope.variables.set(name, value ?? UNKNOWN);
    scope.origins.set(name, []);
  }
}

function setArguments(args: string[], scope: Call["scope"]): void {
  const at = args.indexOf("--");
  const rest = at === -1 ? afterOptions(args, ["-o"]) : args.slice(at + 1);
  if (at !== -1 || rest.length > 0) scope.positional = rest;
}

/** A remote that the same command adds is its address. A project has no `origin` yet when one can be added. */
function rememberRemote([, word = "", name = "", address = ""]: string[], scope: Call["scope"]): void {
  if (word === "set-url" || (word === "add" && name !== "origin"))
    scope.files.set(`.git/remotes/${name}`, { text: address, from: ["git remote"] });
}

const CHANGES_LITTLE = namesIn("chmod chown touch rm sed mkdir rsync tar unzip truncate");

/** A file that is written and run in one go is judged by what was written. */
function rememberFiles(call: Call): void {
  const { scope, program, plain } = call;
  if (CHANGES_LITTLE.has(program) && call.redirections.length === 0) return;
  const paths = writtenPaths(call);
  if (paths.length === 0) return;
  const content = /^(cp|mv|ln|install)$/.test(program) ? contentOf(plain[0] ?? "", scope) : printedBy(call);
  for (const path of paths) scope.files.set(resolvePath(path, scope), content);
}
