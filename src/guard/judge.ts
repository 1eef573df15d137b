import { isAllowed } from "./allowed-commands.js";
import { type Call, isUnknown, programOf, type Stream, UNKNOWN } from "./call.js";
import { refuse } from "./finding.js";
import { printedBy } from "./output.js";
import { RULES } from "./rules/index.js";
import { takeEffect } from "./shell/effects.js";
import { runNode, runText } from "./shell/run.js";
import { innerScope, type Scope, type Session, takeStep } from "./shell/scope.js";
import { type Inner, lookThrough } from "./wrappers/index.js";

const MOST_CALLS_DEEP = 24;
const MOST_WORDS = 1000;

/** Applies every rule to a simple command, then to what it would run in turn. */
export function judgeCall(call: Call): Stream {
  const { scope, words } = call;
  if (!takeStep(scope.session) || scope.depth > MOST_CALLS_DEEP || words.length > MOST_WORDS)
    return tooMuch(call);
  const isCalledLater = scope.positional === undefined && words[0] === UNKNOWN;
  if (isDynamic(call) && !isCalledLater)
    scope.session.report(
      { ...refuse("the name of the program is not known"), category: "obfuscation" },
      words,
    );
  for (const rule of RULES) {
    const judged = rule.judge(call);
    if (judged === undefined || (judged.final !== true && isExcused(call))) continue;
    scope.session.report({ category: rule.category, ...judged }, words);
  }
  takeEffect(call);
  return runInner(call);
}

/** An exception is about the words alone: what stands around them is judged as ever. */
function isExcused({ words, assignments, redirections, scope }: Call): boolean {
  const isBare =
    assignments.length === 0 && redirections.every(({ target }) => /^(\d|\/dev\/null)$/.test(target));
  return isBare && isAllowed(words, scope.place.allowed);
}

function isDynamic({ words, program }: Call): boolean {
  const [first] = words;
  if (first === undefined) return false;
  if (program === "" || isUnknown(program)) return true;
  if (first.includes("*") || first.includes("?")) return true;
  return first.includes("[") && first.lastIndexOf("]") > first.indexOf("[") + 1;
}

function runInner(call: Call): Stream {
  const { scope, program, args, input } = call;
  const body = scope.functions.get(program);
  if (body !== undefined && !call.words[0]?.includes("/")) {
    if (scope.depth > MOST_CALLS_DEEP / 2) return { text: undefined, from: [program] };
    const origins = new Map([...scope.origins, ...NUMBERS.map((name) => [name, call.variables] as const)]);
    return runNode(body, { ...scope, origins, positional: args, depth: scope.depth + 1 }, input);
  }
  const printed = lookThrough(call).map((inner) => run(inner, call));
  return printed.at(-1) ?? printedBy(call);
}

const NUMBERS = ["@", "*", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

function run(inner: Inner, call: Call): Stream {
  const input = inner.input ?? call.input;
  const scope = innerScope(call.scope, inner.cwd === undefined ? {} : { cwd: inner.cwd });
  if (inner.script !== undefined && inner.same) return runText(inner.script, outer(call.scope), input);
  if (inner.script !== undefined) return runInnerText(inner.script, inner, { ...call, input, scope });
  const { words = [], assignments = [] } = inner;
  const program = programOf(words[0] ?? "");
  return judgeCall({
    ...call,
    program,
    args: words.slice(1),
    words,
    assignments,
    redirections: [],
    input,
    scope,
  });
}

/** The same shell, one step deeper: a text that evaluates itself has to come to an end. */
function outer(scope: Scope): Scope {
  return { ...scope, depth: scope.depth + 1 };
}

function runInnerText(script: string, inner: Inner, { scope, input, assignments }: Call): Stream {
  for (const { name, value } of assignments) scope.variables.set(name, value);
  if (inner.name !== undefined) scope.variables.set("0", inner.name);
  if (inner.positional !== undefined) scope.positional = inner.positional;
  if (inner.tentative) scope.session = withoutDoubts(scope.session);
  return runText(script, scope, input);
}

/** What is only strange is not reported. */
function withoutDoubts(session: Session): Session {
  return {
    ...session,
    report(judged, words) {
      if (judged.category !== "obfuscation") session.report(judged, words);
    },
  };
}

function tooMuch({ scope, words }: Call): Stream {
  scope.session.report({ ...refuse("it is too much to follow"), category: "obfuscation" }, words);
  return { text: undefined, from: [] };
}
