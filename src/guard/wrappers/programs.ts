import { afterOptions } from "../args.js";
import type { Call } from "../call.js";
import { namesIn } from "../list.js";

const SHELLS = namesIn(`
  sh bash zsh dash ash ksh mksh fish csh tcsh rbash osh yash elsh pwsh powershell busybox-sh nu xonsh
`);
const INTERPRETERS = namesIn(`
  python pypy node nodejs deno bun perl ruby php lua luajit tclsh wish Rscript osascript expect groovy julia guile
  irb ipython ts-node tsx jshell R elixir iex clojure awk
`);

export function isShell(program: string): boolean {
  return SHELLS.has(program);
}

/** Other programs that run what they read. */
export function isInterpreter(program: string): boolean {
  return INTERPRETERS.has(program.replace(/[\d.]+$/, ""));
}

/** Programs that bring something from another machine. */
export const FETCHERS = namesIn(`
  curl wget fetch aria2c http https xh lynx w3m nc ncat netcat ssh scp ftp lwp-request GET dig nslookup
  socat telnet rclone
`);

/** Whether a program takes what it has to do from its input. */
export function readsProgram({ program, args }: Call): boolean {
  if (isShell(program)) return readsScript(args);
  if (!isInterpreter(program) || program === "awk") return false;
  if (
    args.some((arg) =>
      /^(-c|-e|-m|-r|-p|-f|-E|-n|--eval|--print|--help|--version|-V|-v|-h|--check|-[a-z]*[pn]e)$/.test(arg),
    )
  )
    return false;
  const [script] = afterOptions(args, ["-W", "-X", "-I", "--require", "--import", "--input-type"]);
  return (
    script === undefined || script === "-" || script === "/dev/stdin" || script === "run" || script === "repl"
  );
}

function readsScript(args: string[]): boolean {
  if (args.some((arg) => /^-[a-zA-Z]*c$|^-command$/i.test(arg) || /^--(version|help|command)$/.test(arg)))
    return false;
  if (args.some((arg) => /^-[a-z]*s$/.test(arg))) return true;
  const [script] = afterOptions(args, ["-o", "-O", "+O", "--rcfile", "--init-file"]);
  return (
    script === undefined || script === "-" || /^\/dev\/(stdin|fd\/0)$|^\/proc\/self\/fd\/0$/.test(script)
  );
}
