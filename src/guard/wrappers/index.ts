import type { Call } from "../call.js";
import { entryOf } from "../entry.js";
import { code } from "./code.js";
import { fd, find, rsync, sed, tar, vim, xargs } from "./finders.js";
import { git } from "./git.js";
import { hyperfined, locked, multiplexed, parallel, remote, scripted, switched, watched } from "./hosts.js";
import type { Inner, LookThrough } from "./inner.js";
import { commandBuiltin, environment, prefixed } from "./prefixes.js";
import { isInterpreter, isShell } from "./programs.js";
import { aliased, evaluated, fileText, shell, sourced, trapped } from "./shells.js";

export type { Inner } from "./inner.js";

const WRAPPERS: Record<string, LookThrough> = {
  eval: evaluated,
  source: sourced,
  ".": sourced,
  trap: trapped,
  alias: aliased,
  env: environment,
  command: commandBuiltin,
  watch: watched,
  flock: locked,
  ssh: remote,
  su: switched,
  runuser: switched,
  script: scripted,
  "nix-shell": ({ args }) =>
    args.flatMap((arg, index) => (/^--(run|command)$/.test(arg) ? [{ script: args[index + 1] ?? "" }] : [])),
  tmux: multiplexed,
  screen: multiplexed,
  hyperfine: hyperfined,
  parallel,
  xargs,
  find,
  fd,
  fdfind: fd,
  tar,
  rsync,
  sed,
  gsed: sed,
  vim,
  vi: vim,
  nvim: vim,
  ex: vim,
  git,
  make,
  gmake: make,
  awk: code,
  gawk: code,
  mawk: code,
  nodemon: ({ args }) =>
    args.flatMap((arg, index) => (/^(-x|--exec)$/.test(arg) ? [{ script: args[index + 1] ?? "" }] : [])),
  concurrently: ({ args }) => args.filter((arg) => !arg.startsWith("-")).map((script) => ({ script })),
  gdb: ({ args }) =>
    args.flatMap((arg) =>
      /^(shell|!)\s*(.*)$/s.exec(arg)?.[2] ? [{ script: arg.replace(/^(shell|!)\s*/, "") }] : [],
    ),
  psql: ({ args, input }) =>
    [...args, input?.text ?? ""].flatMap((text) =>
      [...text.matchAll(/\\!\s*([^\n]+)/g)].map((match) => ({ script: match[1] ?? "" })),
    ),
  sqlite3: ({ args, input }) =>
    [...args, input?.text ?? ""].flatMap((text) =>
      [...text.matchAll(/^\.(?:shell|system)\s+([^\n]+)/gm)].map((match) => ({ script: match[1] ?? "" })),
    ),
};

/** Recipes of a makefile that comes on stdin. */
function make({ args, input }: Call): Inner[] {
  const isRead = args.some(
    (arg, index) =>
      /^(-f|--file=)(-|\/dev\/stdin)$/.test(arg) ||
      (arg === "-f" && /^(-|\/dev\/stdin)$/.test(args[index + 1] ?? "")),
  );
  const recipes = isRead ? [...(input?.text ?? "").matchAll(/(?:^\t|;)\s*[@-]*([^\n]+)/gm)] : [];
  return recipes.map((match) => ({ script: match[1] ?? "", tentative: true }));
}

/** What a command runs in turn, one step further in. */
export function lookThrough(call: Call): Inner[] {
  const { program, words } = call;
  const own = entryOf(WRAPPERS, program);
  if (own !== undefined) return own(call);
  if (isShell(program)) return shell(call);
  if (isInterpreter(program)) return code(call);
  if (/^ld-linux.*\.so|^ld\.so/.test(program))
    return [{ words: call.args.filter((arg) => !arg.startsWith("--")) }];
  const inner = prefixed(call);
  if (inner !== undefined) return inner;
  return words[0]?.includes("/") ? fileText(call, words[0], call.args) : [];
}
