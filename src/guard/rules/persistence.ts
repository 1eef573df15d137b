import { hasFlag, plainArgs } from "../args.js";
import type { Call } from "../call.js";
import { entryOf } from "../entry.js";
import { type Judged, refuse } from "../finding.js";
import { isSteering } from "./git.js";
import type { Rule } from "./rule.js";

/** What goes on when the loop is over. Files of this kind are in `protected.ts`. */
export const persistence: Rule = {
  category: "persistence",
  judge: (call) => entryOf(JUDGES, call.program)?.(call),
};

const JUDGES: Record<string, (call: Call) => Judged | undefined> = {
  at: ({ args }) => (hasFlag(args, "lV", "--version") ? undefined : refuse("it runs something later")),
  batch: () => refuse("it runs something later"),
  crontab: ({ args }) =>
    plainArgs(args, ["-u"]).length > 0 ? refuse("it runs something again and again") : undefined,
  pm2: ({ args }) =>
    args[0] === "startup" ? refuse("it runs something when the machine starts") : undefined,
  claude: agent,
  codex: agent,
  gemini: agent,
  git: ({ args }) =>
    args[0] === "config" &&
    args.some((arg) => /^core\.hookspath$/i.test(arg) && isSteering(arg, "x")) &&
    !hasFlag(args, "", "--get", "--unset") &&
    plainArgs(args).length > 2
      ? refuse("git would run programs from another folder")
      : undefined,
};

function agent({ args }: Call): Judged | undefined {
  const [first = "", second = ""] = plainArgs(args);
  const changes =
    /^(mcp|config|plugin|settings|hooks|extensions)$/.test(first) &&
    /^(add|set|remove|install|add-json|add-from-claude-desktop|enable|update|marketplace)$/.test(second);
  return changes ? refuse("it changes the settings of a coding agent") : undefined;
}
