import { afterOptions } from "../args.js";
import type { Call } from "../call.js";
import { list } from "../list.js";

const SHELLS =
  /^(ba|z|da|a|k|mk|fi|c|tc|r?ba|pwsh|osh|ya|el)?sh$|^(pwsh|powershell|rbash|busybox-sh|nu|xonsh)$/;

export function isShell(program: string): boolean {
  return SHELLS.test(program);
}

/** Other programs that run what they read. */
export function isInterpreter(program: string): boolean {
  return /^(python|pypy)[\d.]*$|^(node|nodejs|deno|bun|perl|ruby|php|lua|luajit|tclsh|wish|Rscript|osascript|expect|groovy|julia|guile|irb|ipython[\d.]*|ts-node|tsx|jshell|R|elixir|iex|clojure|awk)[\d.]*$/.test(
    program,
  );
}

/** Programs that bring something from another machine. */
export const FETCHERS = new Set(
  list(`
  curl wget fetch aria2c http https xh lynx w3m nc ncat netcat ssh scp ftp lwp-request GET dig nslookup
  socat telnet rclone
`),
);

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
