import { quoteWord } from "../words.js";
import { innerScope, type Scope, type Session, shown } from "./call.js";
import { type Finding, type Issue, refuse, unjudged, type Verdict, verdictOf } from "./finding.js";
import { judgeCall } from "./judge.js";
import { forgetLinks } from "./paths.js";
import type { Place } from "./place.js";
import { runScript, runText } from "./shell/run.js";
import { UNKNOWN } from "./text.js";

/** Linux takes no longer argument, so no shell could be given it. */
const LONGEST = 131_072;
const MOST_STEPS = 3000;
/** Agents do not wait for ever, and go on without an answer. */
const MOST_MS = 2000;
/** For further reasons; that it is refused is settled. */
const STEPS_AFTER_REFUSAL = 300;

/** What would happen to a command line: nothing is run. Must not throw. */
export function judgeCommand(command: string, place: Place): Verdict {
  const findings: Finding[] = [];
  const steps = { left: MOST_STEPS, until: Date.now() + MOST_MS };
  forgetLinks();
  const report = (issue: Issue, words: string[]): void => {
    if (steps.left < 0 && isRefused(findings)) return;
    add(findings, issue, words);
    if (isRefused(findings)) steps.left = Math.min(steps.left, STEPS_AFTER_REFUSAL);
  };
  if (command.length > LONGEST) report(refuse("obfuscation", "it is longer than any shell takes"), []);
  // Shells leave NUL out.
  else follow(command.replaceAll("\0", ""), createScope(place, sessionOf(report, steps)), report);
  return verdictOf(findings);
}

/** The same for a program and its arguments, with no shell between. */
export function judgeWords(words: string[], place: Place): Verdict {
  return judgeCommand(words.map(quoteWord).join(" "), place);
}

function isRefused(findings: Finding[]): boolean {
  return findings.some(({ level }) => level === "refuse");
}

function sessionOf(report: Session["report"], steps: Session["steps"]): Session {
  const substitute: Session["substitute"] = (script, scope, input) =>
    runScript(script, innerScope(scope), input);
  return { report, judge: judgeCall, substitute, steps };
}

const VARIABLES = {
  IFS: " \t\n",
  SHELL: "/bin/sh",
  BASH: "/bin/bash",
  TMPDIR: "/tmp",
  0: "bash",
  PATH: UNKNOWN,
};

function createScope(place: Place, session: Session): Scope {
  const known = { ...VARIABLES, HOME: place.home, PWD: place.cwd, RALPH_HOME: place.ralphHome };
  return {
    place,
    cwd: place.cwd,
    variables: new Map(Object.entries(known)),
    origins: new Map(),
    functions: new Map(),
    positional: [],
    files: new Map(),
    depth: 0,
    session,
  };
}

function follow(command: string, scope: Scope, report: Session["report"]): void {
  try {
    runText(command, scope);
  } catch (error) {
    report(unjudged(error, ""), []);
  }
}

const MOST_FINDINGS = 20;

function add(findings: Finding[], { category, level, reason }: Issue, words: string[]): void {
  const isKnown = findings.some((other) => other.category === category && other.reason === reason);
  // Warnings must not crowd out what has to be refused.
  const hasRoom = level === "refuse" || findings.length < MOST_FINDINGS;
  if (!isKnown && hasRoom) findings.push({ category, level, reason, command: shown(words) });
}
