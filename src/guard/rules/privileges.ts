import { plainArgs, valuesOf } from "../args.js";
import type { Call } from "../call.js";
import { entryOf } from "../entry.js";
import { type Judged, refuse } from "../finding.js";
import { namesIn } from "../list.js";
import type { Rule } from "./rule.js";

const BECOMES = namesIn(`
  sudo su run0 doas pkexec runuser gosu su-exec sudoedit visudo runas dzdo calife machinectl
`);

export const privileges: Rule = {
  category: "privileges",
  judge(call) {
    if (BECOMES.has(call.program)) return refuse(`${call.program} runs as another user`);
    return entryOf(JUDGES, call.program)?.(call);
  },
};

const JUDGES: Record<string, (call: Call) => Judged | undefined> = {
  chmod: ({ args }) =>
    plainArgs(args)
      .slice(0, 1)
      .concat(args.filter((arg) => /^[+-][rwxst]+$/.test(arg)))
      .some(setsId)
      ? refuse("it lets a program run as its owner")
      : undefined,
  install: ({ args }) =>
    valuesOf(args, "-m", "--mode").some(setsId) ? refuse("it lets a program run as its owner") : undefined,
  setcap: () => refuse("it gives a program rights of root"),
  capsh: () => refuse("it changes rights"),
  chown: ({ args }) =>
    /^(root|0)(:|$)/.test(plainArgs(args)[0] ?? "") ? refuse("it gives files to root") : undefined,
  "systemd-run": () => refuse("it runs outside the loop"),
  osascript: ({ args }) =>
    args.join(" ").includes("administrator privileges") ? refuse("it runs as an administrator") : undefined,
  setpriv: () => refuse("it changes rights"),
  newgrp: () => refuse("it changes the group"),
  sg: () => refuse("it changes the group"),
};

function setsId(mode: string): boolean {
  if (/^0*\d{4,}$/.test(mode)) return /^0*[2-7]\d{3}$/.test(mode);
  return mode.split(",").some((part) => /^[ugoa]*[+=][rwxXt]*s/.test(part));
}
