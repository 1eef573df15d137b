import type { ParameterExpansionPart, Word, WordPart } from "unbash";
import { type Call, innerScope, type Scope } from "../call.js";
import { UNKNOWN } from "../text.js";

/** Where the text of words comes from. */
export type Origins = Pick<Call, "variables" | "substituted">;

const MOST_FIELDS = 64;
const LONGEST = 200_000;

/** The fields that a word expands to. */
export function expandWord(word: Word, scope: Scope, origins: Origins): string[] {
  if (word.parts === undefined) return [word.value];
  const done: string[] = [];
  let open = [""];
  let isEmpty = true;
  for (const part of word.parts) {
    const isBrace = part.type === "BraceExpansion";
    const pieces = piecesOf(part, scope, origins).slice(0, MOST_FIELDS);
    if (pieces.length > 0) isEmpty = false;
    if (isBrace) open = open.flatMap((text) => pieces.map((piece) => text + piece)).slice(0, MOST_FIELDS);
    else open = open.map((text) => text + (pieces[0] ?? ""));
    for (const piece of isBrace ? [] : pieces.slice(1)) {
      done.push(...open);
      open = [piece];
    }
  }
  return isEmpty ? [] : [...done, ...open];
}

/** The word as one text, as on the right of `=` or in double quotes. */
export function expandToText(word: Word, scope: Scope, origins: Origins): string {
  return word.parts === undefined ? word.value : expandParts(word.parts, scope, origins);
}

export function expandParts(parts: readonly WordPart[], scope: Scope, origins: Origins): string {
  let text = "";
  for (const part of parts) {
    text += expansionValue(part, scope, origins) ?? piecesOf(part, scope, origins).join(" ");
    if (text.length > LONGEST) return UNKNOWN;
  }
  return text;
}

/** A word without a piece disappears; several pieces are split into fields. */
function piecesOf(part: WordPart, scope: Scope, origins: Origins): string[] {
  switch (part.type) {
    case "Literal":
    case "Glob":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return [part.value];
    case "DoubleQuoted":
    case "LocaleString":
      if (part.parts.length === 1 && /^\$(@|\{@\})$/.test(part.parts[0]?.text ?? ""))
        return scope.positional ?? [UNKNOWN];
      return [expandParts(part.parts, scope, origins)];
    case "BraceExpansion":
      scope.session.run(part, scope);
      return braceAlternatives(part.text);
    case "ProcessSubstitution":
      return [processSubstitution(part, scope)];
    case "ArithmeticExpansion":
      scope.session.run(part, scope);
      return [UNKNOWN];
    default: {
      const value = expansionValue(part, scope, origins);
      return value === undefined ? [part.text] : fields(value);
    }
  }
}

/** The alternatives of `{a,b}`; for a range, its ends. */
function braceAlternatives(text: string): string[] {
  const inside = text.slice(1, -1).replace(/["'\\]/g, "");
  if (/^\w+\.\.\w+$/.test(inside)) return inside.split("..");
  return inside.includes(",") ? inside.split(/[{},]+/).map((one) => one.replace(/\$.*/, UNKNOWN)) : [text];
}

/** The value of an expansion; undefined for other parts. */
function expansionValue(part: WordPart, scope: Scope, origins: Origins): string | undefined {
  if (part.type === "SimpleExpansion")
    return variableValue(part.text.replace(/^\$(\\\n)*/, ""), scope, origins);
  if (part.type === "ParameterExpansion") return parameterValue(part, scope, origins);
  if (part.type !== "CommandExpansion") return undefined;
  const printed = part.script && scope.session.run(part.script, innerScope(scope));
  origins.substituted.push(...(printed?.from ?? []));
  return printed?.text?.replace(/\n+$/, "") ?? UNKNOWN;
}

/** Splits unquoted text at spaces. */
function fields(value: string): string[] {
  if (value === "") return [];
  return /^\s+$/.test(value) ? ["", ""] : value.split(/[ \t\n]+/);
}

function variableValue(name: string, scope: Scope, origins: Origins): string {
  if (!scope.variables.has(name)) origins.variables.push(name);
  if (name === "@" || name === "*") return scope.positional?.join(" ") ?? UNKNOWN;
  const value = /^[1-9]\d*$/.test(name) ? scope.positional?.[Number(name) - 1] : scope.variables.get(name);
  return value ?? UNKNOWN;
}

/** `${name…}`: follows defaults; any other operation makes the value unknown. */
function parameterValue(part: ParameterExpansionPart, scope: Scope, origins: Origins): string {
  const { operation, parameter, prefix, index } = part;
  if (prefix === "#") return UNKNOWN;
  const isDefault = operation?.type === "Default";
  // Use the default: nobody can know whether the variable is set.
  const other = () => (isDefault ? expandToText(operation.operand, scope, origins) : UNKNOWN);
  if (isDefault && operation.operator.endsWith("+")) return other();
  const value = variableValue(parameter, scope, origins);
  if (prefix === undefined && index === undefined && operation === undefined) return value;
  if (isDefault) return operation.operator.endsWith("?") || !/^\uE0FF?$/.test(value) ? value : other();
  scope.session.run(part, scope);
  return UNKNOWN;
}

let processSubstitutions = 0;

function processSubstitution(part: WordPart & { type: "ProcessSubstitution" }, scope: Scope): string {
  const path = `/dev/fd/${63 + (processSubstitutions++ % 1000)}`;
  const input = part.operator === ">" ? { text: undefined, from: ["tee"] } : undefined;
  const printed = part.script && scope.session.run(part.script, innerScope(scope), input);
  scope.files.set(path, printed ?? { text: undefined, from: [] });
  return path;
}
