import type { ParameterExpansionPart, ParameterOperation, Word } from "unbash";
import { isUnknown, UNKNOWN } from "../call.js";
import type { Met } from "./expand.js";
import type { Scope } from "./scope.js";

type ToText = (word: Word, scope: Scope, met: Met) => string;

export function variableValue(name: string, scope: Scope): string {
  if (name === "@" || name === "*") return scope.positional?.join(" ") ?? UNKNOWN;
  if (/^[1-9]\d*$/.test(name)) return scope.positional?.[Number(name) - 1] ?? UNKNOWN;
  return scope.variables.get(name) ?? UNKNOWN;
}

/** `${name…}`: the operations that hide a word are followed, the others make it unknown. */
export function parameterValue(part: ParameterExpansionPart, scope: Scope, met: Met, toText: ToText): string {
  const { operation } = part;
  const tellsNoValue =
    part.prefix === "#" || (operation?.type === "Default" && operation.operator.endsWith("+"));
  if (!tellsNoValue) met.variables.push(...(scope.origins.get(part.parameter) ?? [part.parameter]));
  if (part.index !== undefined) return elementOf(part, toText(part.index, scope, met), scope);
  if (part.prefix === "#") return UNKNOWN;
  if (part.prefix === "!") return variableValue(variableValue(part.parameter, scope), scope);
  const value = variableValue(part.parameter, scope);
  return operation === undefined
    ? value
    : operated(value, operation, (word) => toText(word, scope, met), met, part.parameter);
}

function elementOf({ parameter, operation }: ParameterExpansionPart, index: string, scope: Scope): string {
  if (operation !== undefined) return UNKNOWN;
  const elements = scope.variables.get(`${parameter}[]`)?.split("\n");
  if (elements === undefined) return UNKNOWN;
  return index === "@" || index === "*" ? elements.join(" ") : (elements[Number(index)] ?? UNKNOWN);
}

function operated(
  value: string,
  operation: ParameterOperation,
  text: (word: Word) => string,
  met: Met,
  name: string,
): string {
  switch (operation.type) {
    case "Default":
      return withDefault(value, operation.operator, text(operation.operand), met, name);
    case "Slice":
      return slice(value, text(operation.offset), operation.length && text(operation.length));
    case "CaseModification":
      return changeCase(value, operation.operator);
    case "Replace":
      return replace(value, operation.operator, text(operation.pattern), text(operation.replacement));
    case "Remove":
      return remove(value, operation.operator, text(operation.operand));
    default:
      return UNKNOWN;
  }
}

/** What is given for the case that a variable is not set is taken: nobody can know whether it is. */
function withDefault(value: string, operator: string, operand: string, met: Met, name: string): string {
  if (value === UNKNOWN && /[-=]$/.test(operator)) {
    // `${PYTHON:-python3}`: whoever sets it means another one of the same kind.
    if (!(name.length > 3 && operand.startsWith(name.toLowerCase()))) met.isAssumed = true;
    return operand;
  }
  if (operator.endsWith("+")) return value === "" ? "" : operand;
  return value === "" ? operand : value;
}

function slice(value: string, offset: string, length: string | undefined): string {
  const [from, count] = [Number(offset), length === undefined ? undefined : Number(length)];
  if (isUnknown(value) || Number.isNaN(from) || Number.isNaN(count ?? 0)) return UNKNOWN;
  const rest = value.slice(from);
  return count === undefined ? rest : rest.slice(0, count);
}

function changeCase(value: string, operator: string): string {
  const change = (text: string) => (operator.startsWith("^") ? text.toUpperCase() : text.toLowerCase());
  return operator.length === 2 ? change(value) : change(value.slice(0, 1)) + value.slice(1);
}

function replace(value: string, operator: string, pattern: string, by: string): string {
  if (isUnknown(value + pattern) || /[*?[\]]/.test(pattern) || operator.length > 2) return UNKNOWN;
  if (operator === "//") return value.replaceAll(pattern, by);
  return operator === "/" ? value.replace(pattern, () => by) : UNKNOWN;
}

/** `${x%/*}` and its like: the shortest or the longest piece at one end that fits. */
function remove(value: string, operator: string, pattern: string): string {
  if (isUnknown(value + pattern) || value.length > LONGEST || /[[\]\\]|(\*.*){4}/.test(pattern))
    return UNKNOWN;
  const wanted = new RegExp(`^${pattern.split("*").map(quoted).join(".*")}$`, "s");
  const places = Array.from({ length: value.length + 1 }, (_, at) => at);
  const isFront = operator.startsWith("#");
  const inOrder = isFront === (operator.length === 1) ? places : places.reverse();
  const cut = inOrder.find((at) => wanted.test(isFront ? value.slice(0, at) : value.slice(at)));
  if (cut === undefined) return value;
  return isFront ? value.slice(cut) : value.slice(0, cut);
}

const LONGEST = 1000;

function quoted(text: string): string {
  return text.replace(/[.+^${}()|]/g, "\\$&").replaceAll("?", ".");
}
