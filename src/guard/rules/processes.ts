import { hasFlag } from "../args.js";
import type { Call } from "../call.js";
import { entryOf } from "../entry.js";
import { isToldOfEvery } from "../every-process.js";
import { type Judged, refuse } from "../finding.js";
import { namesIn } from "../list.js";
import { hasPattern } from "../paths.js";
import { tooWide } from "../process-patterns.js";
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
  kill: killed,
  pkill: ({ args }) => tooWide(args),
  init: ({ args }) => (/^[0-6sS]$/.test(args[0] ?? "") ? refuse("it ends the system") : undefined),
  dmesg: ({ args }) =>
    hasFlag(args, "CcDn", "--clear") ? refuse("it changes the log of the kernel") : undefined,
  gdb: ({ args }) => (hasFlag(args, "p", "--pid") ? refuse("it takes hold of another process") : undefined),
  fuser: ({ args }) =>
    hasFlag(args, "k", "--kill") && args.some((arg) => /^\/[^/]*$/.test(arg))
      ? refuse("it ends every process")
      : undefined,
};

function killed(call: Call): Judged | undefined {
  const { args } = call;
  const pids = targets(args);
  if (pids.some((pid) => /^(1|-1|-0)$/.test(pid) || (pid === "0" && /KILL|9/.test(args[0] ?? ""))))
    return refuse("it ends every process, or the first one");
  const isQuestion = args[0] === "-0" || args[0] === "-l" || args[0] === "-L";
  const isAtRandom = pids.length > MOST_PIDS || pids.some(hasPattern) || isToldOfEvery(call);
  return isAtRandom && !isQuestion ? refuse("it ends processes that nobody has chosen") : undefined;
}

const MOST_PIDS = 30;

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
