import {
  forEachChild,
  type ParameterExpansionPart,
  parse,
  type SyntaxNode,
  type Word,
  type WordPart,
} from "unbash";
import type { Scope } from "../call.js";
import { UNKNOWN } from "../text.js";

/** What was met while words were expanded. */
export interface Met {
  variables: string[];
  substituted: string[];
}

const MOST_FIELDS = 64;
/** Longer than any command line. */
const LONGEST = 200_000;

/** The fields that a word becomes. */
export function expandWord(word: Word, scope: Scope, met: Met): string[] {
  if (word.parts === undefined) return [word.value];
  const done: string[] = [];
  let open = [""];
  let isEmpty = true;
  for (const part of word.parts) {
    if (part.type === "BraceExpansion") {
      const alternatives = braceAlternatives(part.text).flatMap((text) => expandText(text, scope, met));
      open = open.flatMap((text) => alternatives.map((piece) => text + piece)).slice(0, MOST_FIELDS);
      isEmpty = false;
      continue;
    }
    const pieces = piecesOf(part, scope, met).slice(0, MOST_FIELDS);
    if (pieces.length > 0) isEmpty = false;
    open = open.map((text) => text + (pieces[0] ?? ""));
    for (const piece of pieces.slice(1)) {
      done.push(...open);
      open = [piece];
    }
  }
  return isEmpty ? [] : [...done, ...open];
}

function expandText(text: string, scope: Scope, met: Met): string[] {
  const command = parse(`: ${text}`).commands[0]?.command;
  const word = command?.type === "Command" ? command.args[0] : undefined;
  return text === "" || word?.type !== "Word" ? [text] : expandWord(word, scope, met);
}

const TOKEN = /\\[\s\S]|'[^']*'|"(?:[^"\\]|\\[\s\S])*"|[{},]|[^\\'"{},]+|[\s\S]/g;

/** The texts that `{a,b}` stands for; of a range, its ends. */
function braceAlternatives(text: string): string[] {
  const alternatives = [""];
  let depth = 0;
  for (const [token] of text.slice(1, -1).matchAll(TOKEN)) {
    if (token === "{") depth += 1;
    if (token === "}") depth -= 1;
    if (token === "," && depth === 0) alternatives.push("");
    else alternatives[alternatives.length - 1] += token;
  }
  if (alternatives.length > 1) return alternatives.slice(0, MOST_FIELDS);
  return /^\{\w+\.\.\w+\}$/.test(text) ? text.slice(1, -1).split("..") : [text];
}

/** The word as one text, as on the right of `=` or in double quotes. */
export function expandToText(word: Word, scope: Scope, met: Met): string {
  return word.parts === undefined ? word.value : expandParts(word.parts, scope, met);
}

export function expandParts(parts: readonly WordPart[], scope: Scope, met: Met): string {
  let text = "";
  for (const part of parts) {
    text += expansionValue(part, scope, met) ?? piecesOf(part, scope, met).join(" ");
    if (text.length > LONGEST) return UNKNOWN;
  }
  return text;
}

/** No piece at all is a word that vanishes; several are split into fields. */
function piecesOf(part: WordPart, scope: Scope, met: Met): string[] {
  switch (part.type) {
    case "Literal":
    case "Glob":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return [part.value];
    case "DoubleQuoted":
    case "LocaleString":
      return elementsOf(part.parts, scope) ?? [expandParts(part.parts, scope, met)];
    case "ProcessSubstitution":
      return [processSubstitution(part, scope)];
    case "ArithmeticExpansion":
      runNested(part, scope);
      return [UNKNOWN];
    default: {
      const value = expansionValue(part, scope, met);
      return value === undefined ? [part.text] : fields(value);
    }
  }
}

/** `"$@"` and `"${a[@]}"` are as many words as there are elements. */
function elementsOf(parts: readonly WordPart[], scope: Scope): string[] | undefined {
  const [only] = parts;
  if (parts.length !== 1 || only === undefined) return undefined;
  if (/^\$(@|\{@\})$/.test(only.text)) return scope.positional ?? [UNKNOWN];
  const isArray = only.type === "ParameterExpansion" && only.index?.value === "@";
  return isArray ? scope.variables.get(`${only.parameter}[]`)?.split("\n") : undefined;
}

/** The value of an expansion; undefined for other parts. */
function expansionValue(part: WordPart, scope: Scope, met: Met): string | undefined {
  if (part.type === "SimpleExpansion") return variableValue(part.text.replace(/^\$(\\\n)*/, ""), scope, met);
  if (part.type === "ParameterExpansion") return parameterValue(part, scope, met);
  if (part.type !== "CommandExpansion") return undefined;
  const printed = part.script && scope.session.substitute(part.script, scope);
  met.substituted.push(...(printed?.from ?? []));
  return printed?.text?.replace(/\n+$/, "") ?? UNKNOWN;
}

/** What is not quoted becomes several fields at spaces. */
function fields(value: string): string[] {
  if (value === "") return [];
  return /^\s+$/.test(value) ? ["", ""] : value.split(/[ \t\n]+/);
}

function variableValue(name: string, scope: Scope, met: Met): string {
  met.variables.push(...(scope.origins.get(name) ?? [name]));
  if (name === "@" || name === "*") return scope.positional?.join(" ") ?? UNKNOWN;
  const value = /^[1-9]\d*$/.test(name) ? scope.positional?.[Number(name) - 1] : scope.variables.get(name);
  return value ?? UNKNOWN;
}

/** `${name…}`: elements and defaults are followed, other operations make it unknown. */
function parameterValue(part: ParameterExpansionPart, scope: Scope, met: Met): string {
  const { operation, parameter, prefix, index } = part;
  if (prefix === "#") return UNKNOWN;
  const text = (word: Word): string => expandToText(word, scope, met);
  if (operation?.type === "Default" && operation.operator.endsWith("+")) return text(operation.operand);
  const value = variableValue(parameter, scope, met);
  if (index !== undefined) return elementAt(scope.variables.get(`${parameter}[]`)?.split("\n"), text(index));
  if (prefix === "!") return variableValue(value, scope, met);
  if (operation === undefined) return value;
  if (operation.type === "Default" && (operation.operator.endsWith("?") || !/^\uE0FF?$/.test(value)))
    return value;
  // What is given for the case that a variable is not set is taken: nobody can know whether it is.
  if (operation.type === "Default") return text(operation.operand);
  runNested(part, scope);
  return UNKNOWN;
}

function elementAt(elements: string[] | undefined, index: string): string {
  return (/^[@*]$/.test(index) ? elements?.join(" ") : elements?.[Number(index)]) ?? UNKNOWN;
}

let processSubstitutions = 0;

function processSubstitution(part: WordPart & { type: "ProcessSubstitution" }, scope: Scope): string {
  const path = `/dev/fd/${63 + (processSubstitutions++ % 1000)}`;
  const input = part.operator === ">" ? { text: undefined, from: ["tee"] } : undefined;
  const printed = part.script && scope.session.substitute(part.script, scope, input);
  scope.files.set(path, printed ?? { text: undefined, from: [] });
  return path;
}

/** Runs the substitutions in places whose own value is of no interest. */
export function runNested(node: SyntaxNode, scope: Scope): void {
  forEachChild(node, (child) => {
    const isSubstitution = child.type === "CommandExpansion" || child.type === "ProcessSubstitution";
    if (!isSubstitution && child.type !== "ArithmeticCommandExpansion") return runNested(child, scope);
    if (child.script !== undefined) scope.session.substitute(child.script, scope);
  });
}
