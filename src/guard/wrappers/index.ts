import { valuesOf } from "../args.js";
import type { Call } from "../call.js";
import { entryOf } from "../entry.js";
import { namesIn } from "../list.js";
import { resolvePath } from "../paths.js";
import { contentOf } from "../shell/command.js";
import type { Scope } from "../shell/scope.js";
import { code } from "./code.js";
import { fd, find, rsync, sed, tar, vim, xargs } from "./finders.js";
import { git } from "./git.js";
import {
  fzf,
  hyperfined,
  locked,
  multiplexed,
  parallel,
  remote,
  scripted,
  switched,
  watched,
} from "./hosts.js";
import { type Inner, type LookThrough, scriptsOf, wordsOf } from "./inner.js";
import { commandBuiltin, environment, prefixed } from "./prefixes.js";
import { isInterpreter, isShell } from "./programs.js";
import { aliased, evaluated, fileText, shell, sourced, trapped } from "./shells.js";
import { make, packageScripts } from "./written-scripts.js";

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
  concurrently: ({ args }) =>
    args
      .filter((arg) => !/^-|^(npm|yarn|pnpm|bun|node|deno):[\w:*@/.-]+$/.test(arg))
      .map((arg) => ({ script: arg.replace(/^(npm|yarn|pnpm|bun|node|deno):/, "") })),
  ansible: ({ args }) => scriptsOf(...valuesOf(args, "-a", "--args")),
  cmake: ({ args, scope }) => (args[0] === "-E" ? ranByCmake(args.slice(1), scope) : []),
  complete: ({ args }) => scriptsOf(...valuesOf(args, "-C")),
  fzf,
  emacs: code,
  ed: edScript,
  just: ({ args }) => {
    const at = args.findIndex((arg) => /^(-c|--command)$/.test(arg));
    return at === -1 ? [] : [{ words: args.slice(at + 1) }];
  },
  split: ({ args }) => valuesOf(args, "--filter").map((script) => ({ script })),
  gdb: ({ args }) => [
    ...args.flatMap((arg) =>
      /^(shell|!)\s*(.*)$/s.exec(arg)?.[2] ? [{ script: arg.replace(/^(shell|!)\s*/, "") }] : [],
    ),
    ...(args.includes("--args") ? wordsOf(args.slice(args.indexOf("--args") + 1)) : []),
  ],
  psql: escaped,
  mysql: escaped,
  mariadb: escaped,
  sqlite3: ({ args, input }) =>
    [...args, input?.text ?? ""].flatMap((text) =>
      [...text.matchAll(/^\.(?:shell|system)\s+([^\n]+)/gm)].map((match) => ({ script: match[1] ?? "" })),
    ),
};

/** Its tools do what those of a shell do, most under the same names: `cmake -E rm -rf build`. */
function ranByCmake([tool = "", ...words]: string[], scope: Scope): Inner[] {
  if (tool === "chdir") return [{ words: words.slice(1), cwd: resolvePath(words[0] ?? "", scope) }];
  return wordsOf([...(entryOf(CMAKE_TOOLS, tool) ?? [tool]), ...words]);
}

const CMAKE_TOOLS: Record<string, string[]> = {
  remove: ["rm"],
  remove_directory: ["rm", "-r"],
  rename: ["mv"],
  copy_directory: ["cp", "-r"],
  environment: ["printenv"],
};

/** Clients of databases run the rest of a line after `\\!`. */
function escaped({ args, input, program }: Call): Inner[] {
  const pattern = program === "psql" ? /\\!\s*([^\n]+)/g : /(?:\\!|^\s*system\s)\s*([^\n]+)/gm;
  return [...args, input?.text ?? ""].flatMap((text) =>
    [...text.matchAll(pattern)].map((match) => ({ script: match[1] ?? "" })),
  );
}

/** `!command`, also read from or written to. */
function edScript({ input }: Call): Inner[] {
  const lines = (input?.text ?? "").matchAll(/^[\d,.$%]*\s*[erw]?\s*!([^\n]+)/gm);
  return [...lines].map((match) => ({ script: match[1] ?? "" }));
}

/** What a command runs in turn, one step further in. */
export function lookThrough(call: Call): Inner[] {
  return [...editors(call), ...ranBy(call)];
}

/** Programs that others start, by way of a variable. */
function editors({ assignments }: Call): Inner[] {
  const named = assignments.filter(({ name }) => EDITORS.has(name));
  return named.map(({ value }) => ({ script: value, tentative: true }));
}

const EDITORS = namesIn(
  "EDITOR VISUAL PAGER GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER MANPAGER BROWSER GH_PAGER GH_EDITOR",
);

const MANAGERS = namesIn("npm pnpm yarn bun");

function ranBy(call: Call): Inner[] {
  const { program, words } = call;
  const copy = words[0]?.includes("/") ? contentOf(words[0], call.scope).program : undefined;
  if (copy !== undefined) return [{ words: [copy, ...call.args] }];
  const own = entryOf(WRAPPERS, program);
  if (own !== undefined) return own(call);
  if (isShell(program)) return shell(call);
  if (isInterpreter(program)) return code(call);
  if (program.startsWith("ld") && /^ld-linux.*\.so|^ld\.so/.test(program))
    return [{ words: call.args.filter((arg) => !arg.startsWith("--")) }];
  const inner = prefixed(call);
  if (MANAGERS.has(program)) return [...(inner ?? []), ...packageScripts(call)];
  if (inner !== undefined) return inner;
  return words[0]?.includes("/") ? fileText(call, words[0], call.args) : [];
}
