import { nearest } from "../nearest.js";

/** Keys by what people write for them, in small letters and without `_` and `-`. */
const TOP: Record<string, string> = {
  maxCost: "maxcostusd budget budgetusd maxbudget costlimit cost maxusd maxspend spendlimit",
  maxTime: "timeout timelimit maxduration maxruntime duration runtime maxminutes maxseconds time",
  maxIterations: "iterations iterationlimit maxiters loops maxloops maxturns maxsteps rounds",
  checks: "check verify verifycommand verifycommands verification test tests testcommand lint validate gates",
  setup: "install bootstrap prepare setupcommand installcommand dependencies",
  "agent.command": "command agentcommand cli program provider",
  "agent.model": "model",
  "agent.flags": "flags args agentflags agentargs",
  "agent.env": "env environment variables",
  "agent.permissions": "permissions permission permissionmode",
  "agent.background": "background keepbackground",
  scm: "git commit autocommit vcs commits",
  completionResponse: "done completion promise completionpromise response",
  "loop.completion_tag": "completiontag tag",
  "loop.fallback_agents": "fallback fallbackagent fallbackagents",
  "loop.escalate_model": "escalate escalatemodel",
  "checkOptions.parallel": "parallel concurrency jobs",
  "checkOptions.failFast": "failfast bail",
  "review.agent": "reviewer reviewagent revieweragent",
  "review.cap": "reviewcap maxreviews",
  "notify.webhook": "webhook slack",
  notify: "notifications notification",
  protect: "protected protectedfiles readonly",
  "sandbox.network.allow": "network hosts allowedhosts",
};

const CHECK: Record<string, string> = {
  name: "title label id",
  command: "cmd run script shell exec",
  failAction: "onfail action onfailure",
  hint: "message help advice",
  timeout: "timelimit maxtime limit",
  inputs: "files paths globs patterns sources",
};

const AGENT: Record<string, string> = {
  command: "name program cli binary path",
  flags: "args arguments options",
  env: "environment variables",
};

const SECTIONS: Record<string, Record<string, string>> = {
  "": TOP,
  checks: CHECK,
  agent: AGENT,
  agents: AGENT,
};

/** The key that was meant, by its meaning, else by its letters. `known` are the keys that may stand there. */
export function meantBy(key: string, [section = ""]: PropertyKey[], known: string[]): string | undefined {
  const plain = key.toLowerCase().replace(/[_-]/g, "");
  const same = known.find((name) => name.toLowerCase().replace(/[_-]/g, "") === plain);
  const words = Object.entries(SECTIONS[String(section)] ?? {});
  return same ?? words.find(([, written]) => written.split(" ").includes(plain))?.[0] ?? nearest(key, known);
}
