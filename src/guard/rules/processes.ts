import { hasFlag, plainArgs } from "../args.js";
import type { Call } from "../call.js";
import { entryOf } from "../entry.js";
import { type Judged, refuse } from "../finding.js";
import { namesIn } from "../list.js";
import type { Rule } from "./rule.js";

const ALWAYS = namesIn(`
  killall killall5 reboot shutdown halt poweroff telinit insmod modprobe rmmod depmod kexec pm-suspend
  pm-hibernate kmod skill slay crash
`);

export const processes: Rule = {
  category: "processes",
  judge(call) {
    const { program, args } = call;
    if (hasFlag(args, "", "--help", "--version")) return undefined;
    if (ALWAYS.has(program)) return refuse(`${program} ends or changes what does not belong to the project`);
    return entryOf(JUDGES, program)?.(call);
  },
};

const JUDGES: Record<string, (call: Call) => Judged | undefined> = {
  kill: ({ args, substituted }) =>
    targets(args).some((pid) => /^(1|-1|-0)$/.test(pid) || (pid === "0" && /KILL|9/.test(args[0] ?? ""))) ||
    (substituted.length > 0 && substituted.every((name) => name === "ps"))
      ? refuse("it ends every process, or the first one")
      : undefined,
  pkill: ({ args }) => matching(args),
  init: ({ args }) => (/^[0-6sS]$/.test(args[0] ?? "") ? refuse("it ends the system") : undefined),
  dmesg: ({ args }) =>
    hasFlag(args, "CcDn", "--clear") ? refuse("it changes the log of the kernel") : undefined,
  gdb: ({ args }) => (hasFlag(args, "p", "--pid") ? refuse("it takes hold of another process") : undefined),
  fuser: ({ args }) =>
    hasFlag(args, "k", "--kill") && args.some((arg) => /^\/[^/]*$/.test(arg))
      ? refuse("it ends every process")
      : undefined,
};

/** Process ids, with the signal in front left out. */
function targets(args: string[]): string[] {
  const end = args.indexOf("--");
  if (end !== -1) return args.slice(end + 1);
  const [first = "", ...rest] = args;
  if (first === "-l" || first === "-L") return [];
  if (first === "-s" || first === "-n") return args.slice(2);
  const isSignal = /^-([A-Z]+\d*|[a-z]+|\d+)$/.test(first) && rest.length > 0;
  return isSignal ? rest : args;
}

const PRECIOUS =
  /^\^?(ralph|claude|codex|init|systemd|sshd?|dockerd|containerd|bash|zsh|sh|node|login|tmux|screen|cron|dbus-daemon|launchd|Xorg|gnome-shell|kernel)\$?$/i;

function matching(args: string[]): Judged | undefined {
  const [pattern = ""] = plainArgs(args, ["-u", "-U", "-g", "-G", "-P", "-s", "-t", "--signal"]);
  if (hasFlag(args, "uUgGv", "--euid", "--uid", "--inverse") && !hasFlag(args, "f"))
    return refuse("it ends processes of all kinds");
  const letters = pattern.replace(/[^a-z0-9]/gi, "");
  if (letters.length < 2 && !hasFlag(args, "P", "--parent")) return refuse("it ends processes of all kinds");
  return PRECIOUS.test(pattern) && pattern !== "node" ? refuse(`it ends ${pattern}`) : undefined;
}
