import {
  type Assignment,
  type Command,
  type For,
  type Function as FunctionNode,
  forEachChild,
  type Pipeline,
  parse,
  type Redirection as RedirectionNode,
  type Select,
  type SyntaxNode,
} from "unbash";
import { type Call, callOf, innerScope, type Scope, type Stream, takeStep, type Variable } from "../call.js";
import { refuse } from "../finding.js";
import { isHarmlessSearch, SEARCHED } from "../secrets.js";
import { UNKNOWN } from "../text.js";
import { expandParts, expandToText, expandWord, type Origins } from "./expand.js";
import { contentOf } from "./output.js";

const MOST_DEPTH = 24;
const MOST_ROUNDS = 12;
const MOST_PIPED = 100;
const MOST_BRACES = 1000;
const NOTHING: Stream = { text: "", from: [] };

/** Follows a command line as a shell would, without running anything, and judges each simple command. */
export function runText(text: string, scope: Scope, input?: Stream): Stream {
  return hasManyBraces(text) ? tooMuch(scope) : runNode(parse(text), scope, input);
}

/** The parser searches for the end of each opened brace up to the end of the word. */
function hasManyBraces(text: string): boolean {
  if (text.length < MOST_BRACES) return false;
  return text.split(/\s/).some((word) => word.split("{").length - word.split("}").length > MOST_BRACES);
}

export function runNode(node: SyntaxNode, scope: Scope, input?: Stream, readers: string[] = []): Stream {
  if (!takeStep(scope.session) || scope.depth > MOST_DEPTH) return tooMuch(scope);
  switch (node.type) {
    case "Command":
      return runCommand(node, scope, input, readers);
    case "Pipeline":
      return runPipeline(node, scope, input, readers);
    case "Function":
      return define(node, scope);
    case "Subshell":
      return runNode(node.body, innerScope(scope), input, readers);
    case "For":
    case "Select":
      return runFor(node, scope, input);
    case "Redirected": {
      const origins = { variables: [], substituted: [] };
      const { redirections, input: own } = redirectionsOf(node.redirects, scope, origins);
      const printed = runNode(node.command, scope, own ?? input);
      const about = { ...origins, assignments: [], readers: [], redirections, input: printed, scope };
      scope.session.judge(callOf([], about));
      return printed;
    }
    case "CommandExpansion":
    case "ProcessSubstitution":
    case "ArithmeticCommandExpansion":
      if (node.script !== undefined) runNode(node.script, innerScope(scope));
      return NOTHING;
    default:
      return runParts(node, scope, input, readers);
  }
}

/** Lists, branches and loops: examines every part, because any of them may run. */
function runParts(node: SyntaxNode, scope: Scope, input: Stream | undefined, readers: string[]): Stream {
  const [error] = "errors" in node ? (node.errors ?? []) : [];
  if (error !== undefined)
    scope.session.report(refuse("obfuscation", `it cannot be parsed: ${error.message}`), []);
  const printed: Stream[] = [];
  forEachChild(node, (child) => void printed.push(runNode(child, scope, input, readers)));
  return joined(printed);
}

function runPipeline(
  { commands }: Pipeline,
  scope: Scope,
  input: Stream | undefined,
  after: string[],
): Stream {
  if (commands.length > MOST_PIPED) return tooMuch(scope);
  const names = commands.map(readerName);
  let stream = input;
  for (const [index, command] of commands.entries())
    stream = runNode(command, scope, stream, [...names.slice(index + 1), ...after]);
  return stream ?? NOTHING;
}

/** A search for a harmless word shows only matching lines. */
function readerName(command: SyntaxNode): string {
  if (command.type !== "Command") return command.type;
  const name = command.name?.value ?? "";
  const args = command.args.map((arg) => (arg.type === "Word" ? arg.value : arg.text));
  return /^[ef]?grep$|^rg$/.test(name) && isHarmlessSearch(args) ? SEARCHED : name;
}

function runFor(node: For | Select, scope: Scope, input?: Stream): Stream {
  const origins = { variables: [], substituted: [] };
  const given = node.wordlist?.flatMap((word) => expandWord(word, scope, origins)) ??
    scope.positional ?? [UNKNOWN];
  const values = given.length > MOST_ROUNDS ? [...given.slice(0, MOST_ROUNDS), UNKNOWN] : given;
  const rounds = values.map((value) => {
    scope.variables.set(node.name.value, value);
    return runNode(node.body, scope, input);
  });
  return joined(rounds);
}

/** Examines the body even without a call: a trap or another shell can call it. */
function define({ name, body }: FunctionNode, scope: Scope): Stream {
  const { report } = scope.session;
  if (forksItself(name.value, body))
    report(refuse("exhaustion", "it starts itself again and again (a fork bomb)"), [`${name.value}()`]);
  else {
    runNode(body, innerScope(scope, { positional: undefined }));
    scope.functions.set(name.value, body);
  }
  return NOTHING;
}

/** A function that calls itself in a pipe or in the background. */
function forksItself(name: string, body: SyntaxNode): boolean {
  const isCall = (node: SyntaxNode) => node.type === "Command" && node.name?.value === name;
  const isBeside = (node: SyntaxNode) =>
    node.type === "Pipeline" || (node.type === "Statement" && node.background === true);
  return some(body, (node) => isBeside(node) && some(node, isCall));
}

function some(node: SyntaxNode, test: (node: SyntaxNode) => boolean): boolean {
  let found = test(node);
  forEachChild(node, (child) => {
    found ||= some(child, test);
  });
  return found;
}

function joined(streams: Stream[]): Stream {
  const isKnown = streams.every(({ text }) => text !== undefined);
  const from = [...new Set(streams.flatMap((stream) => stream.from))];
  return { text: isKnown ? streams.map(({ text }) => text).join("") : undefined, from };
}

function tooMuch(scope: Scope): Stream {
  scope.session.report(refuse("obfuscation", "it is too much to follow"), []);
  return { text: undefined, from: [] };
}

/** Expands a simple command and judges it. */
function runCommand(node: Command, scope: Scope, input: Stream | undefined, readers: string[]): Stream {
  const origins: Origins = { variables: [], substituted: [] };
  const prefix = node.prefix.filter((part) => part.type === "Assignment");
  const assignments = prefix.map((part) => assigned(part, scope));
  const { redirections, input: own } = redirectionsOf(node.redirects, scope, origins);
  const words = node.name === undefined ? [] : expandWord(node.name, scope, origins);
  for (const arg of node.args) {
    if (arg.type === "Word") words.push(...expandWord(arg, scope, origins));
    else {
      const { name, value } = assigned(arg, scope);
      words.push(`${name}=${value}`);
    }
  }
  if (words.length === 0) for (const { name, value } of assignments) scope.variables.set(name, value);
  return scope.session.judge(
    callOf(words, { ...origins, assignments, redirections, input: own ?? input, readers, scope }),
  );
}

function assigned({ name, value: node, index, append }: Assignment, scope: Scope): Variable {
  const origins = { variables: [], substituted: [] };
  if (index !== undefined) runNode(index, scope);
  const value =
    node.type === "ArrayValue"
      ? node.elements.flatMap((word) => expandWord(word, scope, origins)).join(" ")
      : expandToText(node, scope, origins);
  return { name, value: append ? `${scope.variables.get(name) ?? UNKNOWN}${value}` : value };
}

/** The files that it writes to, and its input if a redirection names it. */
function redirectionsOf(
  nodes: readonly RedirectionNode[],
  scope: Scope,
  origins: Origins,
): Pick<Call, "redirections" | "input"> {
  const redirections: Call["redirections"] = [];
  let input: Stream | undefined;
  for (const node of nodes) {
    const text = textOf(node, scope, origins);
    if (node.type !== "Redirect") input = { text, from: [] };
    else {
      redirections.push({ operator: node.operator, target: text });
      if (node.operator === "<" || node.operator === "<>") input = contentOf(text, scope);
    }
  }
  return { redirections, input };
}

function textOf(node: RedirectionNode, scope: Scope, origins: Origins): string {
  if (node.type !== "HereDoc")
    return node.target === undefined ? "" : expandToText(node.target, scope, origins);
  const { parts, text } = node.body;
  return parts === undefined ? text : expandParts(parts, scope, origins);
}
