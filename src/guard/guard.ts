import { quoteWord } from "../words.js";
import type { Site } from "./allowed-commands.js";
import { type Scope, type Session, shown } from "./call.js";
import { type GuardFinding, type GuardVerdict, type Risk, refuse, unjudged, verdictOf } from "./finding.js";
import { judgeCall } from "./judge.js";
import { forgetLinks } from "./paths.js";
import { runNode, runText } from "./shell/run.js";
import { UNKNOWN } from "./text.js";

/** Linux accepts no longer argument, so no shell could get it. */
const LONGEST = 131_072;
const MOST_STEPS = 3000;
/** Agents do not wait forever, and continue without an answer. */
const MOST_MS = 2000;
/** For further reasons, once the guard has refused. */
const STEPS_AFTER_REFUSAL = 300;

/** Judges a command line without running anything. Must not throw. */
export function judgeCommand(command: string, site: Site): GuardVerdict {
  const findings: GuardFinding[] = [];
  const steps = { left: MOST_STEPS, until: Date.now() + MOST_MS };
  forgetLinks();
  const isRefused = (): boolean => findings.some(({ level }) => level === "refuse");
  const report = (issue: Risk, words: string[]): void => {
    if (steps.left < 0 && isRefused()) return;
    add(findings, issue, words);
    if (isRefused()) steps.left = Math.min(steps.left, STEPS_AFTER_REFUSAL);
  };
  try {
    if (command.length > LONGEST) report(refuse("obfuscation", "it is longer than any shell takes"), []);
    // Shells drop NUL.
    else {
      const session = { report, judge: judgeCall, run: runNode, steps };
      runText(command.replaceAll("\0", ""), createScope(site, session));
    }
  } catch (error) {
    report(unjudged(error, ""), []);
  }
  return verdictOf(findings);
}

/** The same for a program and its arguments, without a shell. */
export function judgeWords(words: string[], site: Site): GuardVerdict {
  return judgeCommand(words.map(quoteWord).join(" "), site);
}

function createScope(site: Site, session: Session): Scope {
  const { home, cwd, ralphHome } = site;
  const known = {
    HOME: home,
    PWD: cwd,
    RALPH_HOME: ralphHome,
    SHELL: "/bin/sh",
    BASH: "/bin/bash",
    TMPDIR: "/tmp",
  };
  return {
    site,
    cwd,
    variables: new Map(Object.entries({ ...known, 0: "bash", PATH: UNKNOWN })),
    functions: new Map(),
    positional: [],
    files: new Map(),
    depth: 0,
    session,
  };
}

const MOST_FINDINGS = 20;

function add(findings: GuardFinding[], { category, level, reason }: Risk, words: string[]): void {
  const isKnown = findings.some((other) => other.category === category && other.reason === reason);
  // Warnings must not crowd out refusals.
  const hasRoom = level === "refuse" || findings.length < MOST_FINDINGS;
  if (!isKnown && hasRoom) findings.push({ category, level, reason, command: shown(words) });
}
