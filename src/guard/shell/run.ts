import {
  type AndOr,
  type CommandNode,
  type CompoundList,
  type For,
  type Function as FunctionNode,
  forEachChild,
  type ParsedScript,
  type Pipeline,
  parse,
  type Script,
  type Select,
  type SyntaxNode,
  type While,
} from "unbash";
import { callOf, innerScope, type Scope, type Stream, takeStep } from "../call.js";
import { type Category, refuse } from "../finding.js";
import { isHarmlessSearch, SEARCHED } from "../secrets.js";
import { UNKNOWN } from "../text.js";
import { redirectionsOf, runCommand } from "./command.js";
import { expandWord, type Met, runNested } from "./expand.js";

const MOST_DEPTH = 24;
const MOST_ROUNDS = 12;
const MOST_PIPED = 100;
const MOST_BRACES = 1000;
const NOTHING: Stream = { text: "", from: [] };

/** Follows a command line as a shell would, without running anything, and hands each simple command to the rules. */
export function runText(text: string, scope: Scope, input?: Stream): Stream {
  if (!takeStep(scope.session) || hasManyBraces(text)) return tooMuch(scope);
  return runScript(parse(text), scope, input);
}

/** The parser looks for the end of each brace that is opened, up to the end of the word. */
function hasManyBraces(text: string): boolean {
  if (text.length < MOST_BRACES) return false;
  return text.split(/\s/).some((word) => word.split("{").length - word.split("}").length > MOST_BRACES);
}

export function runScript(script: Script | ParsedScript, scope: Scope, input?: Stream): Stream {
  if (scope.depth > MOST_DEPTH) return tooMuch(scope);
  const [error] = "errors" in script ? (script.errors ?? []) : [];
  if (error !== undefined) complain(scope, `it cannot be parsed: ${error.message}`);
  return runList(script.commands, scope, input);
}

function runList(statements: CompoundList["commands"], scope: Scope, input?: Stream): Stream {
  const printed: Stream[] = [];
  for (const { command } of statements) {
    printed.push(runNode(command, scope, input));
    if (scope.session.steps.left < 0) break;
  }
  return joined(printed);
}

type Node = CommandNode | Pipeline | AndOr | CompoundList;

export function runNode(node: Node, scope: Scope, input?: Stream, readers: string[] = []): Stream {
  if (!takeStep(scope.session)) return tooMuch(scope);
  switch (node.type) {
    case "Command":
      return runCommand(node, scope, input, readers);
    case "Pipeline":
      return runPipeline(node, scope, input, readers);
    case "AndOr":
      return joined(node.commands.map((command) => runNode(command, scope, input, readers)));
    case "CompoundList":
      return runList(node.commands, scope, input);
    case "Function":
      return define(node, scope);
    case "Redirected": {
      const { redirections, input: own } = redirectionsOf(node.redirects, scope);
      const printed = runNode(node.command, scope, own ?? input);
      const about = { assignments: [], readers: [], variables: [], substituted: [] };
      scope.session.judge(callOf([], { ...about, redirections, input: printed, scope }));
      return printed;
    }
    default:
      return runCompound(node, scope, input);
  }
}

type Simple = "Command" | "Pipeline" | "AndOr" | "CompoundList" | "Function" | "Redirected";

function runCompound(node: Exclude<Node, { type: Simple }>, scope: Scope, input?: Stream): Stream {
  switch (node.type) {
    case "Subshell":
      return runNode(node.body, innerScope(scope), input);
    case "BraceGroup":
      return runNode(node.body, scope, input);
    case "Coproc":
      return runNode(node.body, scope, { text: undefined, from: ["coproc"] });
    case "If": {
      const branches = node.elif.flatMap(({ clause, then }) => [clause, then]);
      const lists = [node.clause, node.then, ...branches, ...(node.else ? [node.else] : [])];
      return joined(lists.map((list) => runNode(list, scope, input)));
    }
    case "While":
      if (isEndless(node) && startsInBackground(node.body)) endless(scope, node.kind);
      runNode(node.clause, scope, input);
      return runNode(node.body, scope, input);
    case "For":
    case "Select":
      return runFor(node, scope, input);
    case "ArithmeticFor":
      if (node.test === undefined && startsInBackground(node.body)) endless(scope, "for");
      for (const part of [node.initialize, node.test, node.update]) if (part) runNested(part, scope);
      return runNode(node.body, scope, input);
    case "Case":
      expandWord(node.word, scope, { variables: [], substituted: [] });
      return joined(node.items.map((item) => runNode(item.body, scope, input)));
    default:
      runNested(node, scope);
      return NOTHING;
  }
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

/** A search for a harmless word shows no more than that. */
function readerName(command: CommandNode): string {
  if (command.type !== "Command") return command.type;
  const name = command.name?.value ?? "";
  const args = command.args.map((arg) => (arg.type === "Word" ? arg.value : arg.text));
  return /^[ef]?grep$|^rg$/.test(name) && isHarmlessSearch(args) ? SEARCHED : name;
}

function runFor(node: For | Select, scope: Scope, input?: Stream): Stream {
  const met: Met = { variables: [], substituted: [] };
  const given = node.wordlist?.flatMap((word) => expandWord(word, scope, met)) ??
    scope.positional ?? [UNKNOWN];
  const values = given.length > MOST_ROUNDS ? [...given.slice(0, MOST_ROUNDS), UNKNOWN] : given;
  scope.origins.set(node.name.value, met.variables);
  const rounds = values.map((value) => {
    scope.variables.set(node.name.value, value);
    return runNode(node.body, scope, input);
  });
  return joined(rounds);
}

/** The body is looked at even if nothing calls it: a trap or another shell can. */
function define({ name, body }: FunctionNode, scope: Scope): Stream {
  if (forksItself(name.value, body))
    complain(scope, "it starts itself again and again (a fork bomb)", "exhaustion", `${name.value}()`);
  else {
    runNode(body, innerScope(scope, { positional: undefined }));
    scope.functions.set(name.value, body);
  }
  return NOTHING;
}

function joined(streams: Stream[]): Stream {
  const isKnown = streams.every(({ text }) => text !== undefined);
  const from = [...new Set(streams.flatMap((stream) => stream.from))];
  return { text: isKnown ? streams.map(({ text }) => text).join("") : undefined, from };
}

function endless(scope: Scope, word: string): void {
  complain(scope, "it starts processes without end", "exhaustion", word);
}

function tooMuch(scope: Scope): Stream {
  complain(scope, "it is too much to follow");
  return { text: undefined, from: [] };
}

function complain(
  scope: Scope,
  reason: string,
  category: Category = "obfuscation",
  ...words: string[]
): void {
  scope.session.report(refuse(category, reason), words);
}

/** A function that calls itself beside itself: in a pipe or in the background. */
function forksItself(name: string, body: FunctionNode["body"]): boolean {
  const isCall = (node: SyntaxNode) => node.type === "Command" && node.name?.value === name;
  return some(body, (node) => (node.type === "Pipeline" || isInBackground(node)) && some(node, isCall));
}

/** Something is started in the background again and again, and nothing waits: neither for it nor for some time. */
function isEndless({ kind, clause }: While): boolean {
  const command = clause.commands.at(-1)?.command;
  if (command?.type === "ArithmeticCommand") return kind === "while" && /^\s*1\s*$/.test(command.body);
  const name = command?.type === "Command" ? command.name?.value : undefined;
  return kind === "while" ? name === "true" || name === ":" : name === "false";
}

function startsInBackground(body: SyntaxNode): boolean {
  const isWait = (node: SyntaxNode) =>
    node.type === "Statement" &&
    !isInBackground(node) &&
    node.command.type === "Command" &&
    /^(sleep|wait|read)$/.test(node.command.name?.value ?? "");
  return !some(body, isWait) && some(body, isInBackground);
}

function isInBackground(node: SyntaxNode): boolean {
  return node.type === "Statement" && node.background === true;
}

function some(node: SyntaxNode, test: (node: SyntaxNode) => boolean): boolean {
  if (test(node)) return true;
  let found = false;
  forEachChild(node, (child) => {
    found ||= some(child, test);
  });
  return found;
}
