import { quoteWord } from "../words.js";
import { type Stream, shown } from "./call.js";
import { type Finding, type Judged, refuse, unjudged, type Verdict, verdictOf } from "./finding.js";
import { judgeCall } from "./judge.js";
import { forgetLinks } from "./paths.js";
import type { Place } from "./place.js";
import { runScript, runText } from "./shell/run.js";
import { createScope, innerScope, type Scope, type Session } from "./shell/scope.js";

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
  const report = (judged: Judged, words: string[]): void => {
    if (steps.left < 0 && isRefused(findings)) return;
    add(findings, judged, words);
    if (isRefused(findings)) steps.left = Math.min(steps.left, STEPS_AFTER_REFUSAL);
  };
  if (command.length > LONGEST)
    report({ ...refuse("it is longer than any shell takes"), category: "obfuscation" }, []);
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
  const substitute = (script: Parameters<Session["substitute"]>[0], scope: Scope, input?: Stream): Stream =>
    runScript(script, innerScope(scope), input);
  return { report, judge: judgeCall, substitute, steps };
}

function follow(command: string, scope: Scope, report: Session["report"]): void {
  try {
    runText(command, scope);
  } catch (error) {
    report(unjudged(error, ""), []);
  }
}

function add(findings: Finding[], judged: Judged, words: string[]): void {
  const { level, reason, category = "obfuscation" } = judged;
  const finding = { category, level, reason, command: shown(words) };
  const isKnown = findings.some((other) => other.category === category && other.reason === reason);
  // Warnings must not crowd out what has to be refused.
  const hasRoom = level === "refuse" || findings.length < MOST_FINDINGS;
  if (!isKnown && hasRoom) findings.push(finding);
}

const MOST_FINDINGS = 20;
