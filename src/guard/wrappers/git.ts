import { valuesOf } from "../args.js";
import { resolvePath } from "../paths.js";
import { type Inner, type LookThrough, scriptsOf } from "./inner.js";

const VALUED = /^(-C|-c|--git-dir|--work-tree|--namespace|--exec-path|--super-prefix|--config-env)$/;

export interface GitCommand {
  verb: string;
  args: string[];
  /** Of `-c name=value`. */
  settings: { name: string; value: string }[];
}

/** What git is asked to do, without the options in front. */
export function gitCommand(args: string[]): GitCommand {
  const at = args.findIndex((arg, index) => !arg.startsWith("-") && !VALUED.test(args[index - 1] ?? ""));
  const front = at === -1 ? args : args.slice(0, at);
  const settings = settingsOf(front, "-c");
  return { verb: at === -1 ? "" : (args[at] ?? ""), args: at === -1 ? [] : args.slice(at + 1), settings };
}

export function settingsOf(args: string[], ...flags: string[]): GitCommand["settings"] {
  return valuesOf(args, ...flags).map((text) => ({
    name: text.split("=")[0] ?? "",
    value: text.slice(text.indexOf("=") + 1),
  }));
}

/** Programs that git runs for its user. */
export const git: LookThrough = (call) => {
  const { verb, args, settings } = gitCommand(call.args);
  const aliases = settings.filter(({ name, value }) => /^alias\./i.test(name) && value.startsWith("!"));
  const [folder] = valuesOf(call.args.slice(0, call.args.indexOf(verb)), "-C");
  const inner = [...scriptsOf(...aliases.map(({ value }) => value.slice(1))), ...run(verb, args)];
  return folder === undefined
    ? inner
    : inner.map((one) => ({ ...one, cwd: resolvePath(folder, call.scope) }));
};

function run(verb: string, args: string[]): Inner[] {
  if (verb === "rebase") return scriptsOf(...valuesOf(args, "-x", "--exec"));
  if (verb === "difftool") return scriptsOf(...valuesOf(args, "-x", "--extcmd"));
  if (verb === "bisect" && args[0] === "run") return [{ words: args.slice(1) }];
  if (verb === "submodule" && args.includes("foreach"))
    return scriptsOf(
      args
        .slice(args.indexOf("foreach") + 1)
        .filter((arg) => !/^(--recursive|-q)$/.test(arg))
        .join(" "),
    );
  if (verb === "filter-branch")
    return scriptsOf(...valuesOf(args, "--tree-filter", "--index-filter", "--msg-filter", "--env-filter"));
  if (verb === "config" && args.some((arg) => /^alias\./.test(arg)))
    return scriptsOf(...args.filter((arg) => arg.startsWith("!")).map((arg) => arg.slice(1)));
  return [];
}
