import { forEachChild, parse, type SyntaxNode, type Word, type WordPart } from "unbash";
import { type Stream, UNKNOWN } from "../call.js";
import { braceAlternatives } from "./braces.js";
import { parameterValue, variableValue } from "./parameters.js";
import type { Scope } from "./scope.js";

/** What was met while words were expanded. */
export interface Met {
  variables: string[];
  substituted: string[];
  /** A variable is taken for not set. */
  isAssumed?: boolean;
}

const MOST_FIELDS = 64;

/** The fields that a word becomes. */
export function expandWord(word: Word, scope: Scope, met: Met): string[] {
  if (word.parts === undefined) return [word.value];
  let done: string[] = [];
  let open = [""];
  let isEmpty = true;
  const append = (pieces: string[]): void => {
    const [first = "", ...more] = pieces;
    open = open.map((text) => text + first);
    for (const piece of more) {
      done = [...done, ...open];
      open = [piece];
    }
  };
  for (const part of word.parts) {
    if (part.type === "BraceExpansion") {
      const alternatives = braceAlternatives(part.text).flatMap((text) => expandText(text, scope, met));
      open = open.flatMap((text) => alternatives.map((piece) => text + piece)).slice(0, MOST_FIELDS);
      isEmpty = false;
      continue;
    }
    const pieces = piecesOf(part, scope, met);
    if (pieces.length > 0) isEmpty = false;
    append(pieces.slice(0, MOST_FIELDS));
  }
  return isEmpty ? [] : [...done, ...open];
}

function expandText(text: string, scope: Scope, met: Met): string[] {
  const command = parse(`: ${text}`).commands[0]?.command;
  const word = command?.type === "Command" ? command.args[0] : undefined;
  if (text === "" || word === undefined || word.type !== "Word") return [text];
  return expandWord(word, scope, met);
}

/** The word as one text, as on the right of `=` or in double quotes. */
export function expandToText(word: Word, scope: Scope, met: Met): string {
  return word.parts === undefined ? word.value : expandParts(word.parts, scope, met);
}

export function expandParts(parts: readonly WordPart[], scope: Scope, met: Met): string {
  let text = "";
  for (const part of parts) {
    text += piecesOf(part, scope, met).join(" ");
    if (text.length > LONGEST) return UNKNOWN;
  }
  return text;
}

/** Longer than any command line. */
const LONGEST = 200_000;

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
      return quotedPieces(part.parts, scope, met);
    case "SimpleExpansion":
      return split(simpleValue(part.text, scope, met), scope);
    case "ParameterExpansion":
      return split(parameterValue(part, scope, met, expandToText), scope);
    case "CommandExpansion":
      return split(substituted(part.script && scope.session.substitute(part.script, scope), met), scope);
    case "ProcessSubstitution":
      return [processSubstitution(part, scope)];
    case "ArithmeticExpansion":
      runNested(part, scope);
      return [UNKNOWN];
    default:
      return [part.text];
  }
}

function quotedPieces(parts: readonly WordPart[], scope: Scope, met: Met): string[] {
  const [only] = parts;
  const isAll = parts.length === 1 && only !== undefined && /^\$(@|\{@\})$/.test(only.text);
  if (isAll) return scope.positional ?? [UNKNOWN];
  const isArray = parts.length === 1 && only?.type === "ParameterExpansion" && only.index?.value === "@";
  const elements = isArray ? scope.variables.get(`${only.parameter}[]`) : undefined;
  if (elements !== undefined) return elements.split("\n");
  let text = "";
  for (const part of parts) {
    text += quotedText(part, scope, met);
    if (text.length > LONGEST) return [UNKNOWN];
  }
  return [text];
}

function quotedText(part: WordPart, scope: Scope, met: Met): string {
  if (part.type === "SimpleExpansion") return simpleValue(part.text, scope, met);
  if (part.type === "ParameterExpansion") return parameterValue(part, scope, met, expandToText);
  if (part.type === "CommandExpansion")
    return substituted(part.script && scope.session.substitute(part.script, scope), met);
  return piecesOf(part, scope, met).join(" ");
}

function simpleValue(text: string, scope: Scope, met: Met): string {
  const name = text.replace(/^\$(\\\n)*/, "");
  met.variables.push(...(scope.origins.get(name) ?? [name]));
  return variableValue(name, scope);
}

function substituted(stream: Stream | undefined, met: Met): string {
  met.substituted.push(...(stream?.from ?? []));
  return stream?.text?.replace(/\n+$/, "") ?? UNKNOWN;
}

/** What is not quoted becomes several fields at spaces. */
function split(value: string, scope: Scope): string[] {
  const separators = scope.variables.get("IFS") ?? " \t\n";
  const isUsual = separators === " \t\n" || separators.includes(UNKNOWN);
  const pattern = isUsual ? /[ \t\n]+/ : new RegExp(`[${separators.replace(/[\]\\^-]/g, "\\$&")} \\n]+`);
  if (value === "") return [];
  if (/^[ \t\n]+$/.test(value)) return ["", ""];
  return value.split(pattern);
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
