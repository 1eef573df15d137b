import { hasFlag, plainArgs, valuesOf } from "./args.js";
import { UNKNOWN } from "./call.js";
import { type Judged, refuse } from "./finding.js";
import { list, namesIn } from "./list.js";

const PRECIOUS = namesIn(`
  root ralph claude codex init systemd ssh sshd dockerd containerd bash zsh sh login tmux screen cron
  dbus-daemon launchd xorg gnome-shell kernel
`);

const VALUED = list(`
  -u -U -g -G -P -s -t --signal --euid --uid --group --pgroup --session --terminal --parent --ns --nslist
`);

/** Why the processes that `pkill` and `pgrep` would find are not only the project's own. */
export function tooWide(all: string[]): Judged | undefined {
  const args = all.filter((arg) => !/^-(\d+|[A-Z]{3,}\d?)$/.test(arg));
  const [pattern = ""] = plainArgs(args, VALUED);
  if (hasFlag(args, "v", "--inverse")) return refuse("it ends processes of all kinds");
  const isOfRoot = valuesOf(args, "-u", "-U", "--euid", "--uid").some((user) => /^(root|0)$/.test(user));
  const isAny = pattern.split("|").some((one) => lettersOf(one).length < 2);
  const isOfOne = hasFlag(args, "P", "--parent") || pattern.includes(UNKNOWN);
  if (isOfRoot || (isAny && !isOfOne)) return refuse("it ends processes of all kinds");
  return PRECIOUS.has(pattern.replace(/^\^|\$$/g, "").toLowerCase())
    ? refuse(`it ends ${pattern}`)
    : undefined;
}

/** Those that have to be there: classes and escapes stand for many. */
function lettersOf(pattern: string): string {
  return pattern.replace(/\[\^?[^\]]*\]+|\\[a-zA-Z]/g, "").replace(/[^a-z0-9]/gi, "");
}
