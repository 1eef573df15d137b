import type { Assignment, Command, Redirection as RedirectionNode } from "unbash";
import { type Call, callOf, type Scope, type Stream, type Variable } from "../call.js";
import { UNKNOWN } from "../text.js";
import { expandParts, expandToText, expandWord, type Met, runNested } from "./expand.js";
import { contentOf } from "./output.js";

/** Expands a simple command and hands it to the rules. */
export function runCommand(
  node: Command,
  scope: Scope,
  input: Stream | undefined,
  readers: string[],
): Stream {
  const met: Met = { variables: [], substituted: [] };
  const prefix = node.prefix.filter((part) => part.type === "Assignment");
  const assignments = prefix.map((part) => assigned(part, scope));
  const { redirections, input: own } = redirectionsOf(node.redirects, scope, met);
  const words = node.name === undefined ? [] : expandWord(node.name, scope, met);
  for (const arg of node.args) {
    if (arg.type === "Word") words.push(...expandWord(arg, scope, met));
    else {
      const { name, value } = assigned(arg, scope);
      words.push(`${name}=${value}`);
    }
  }
  if (words.length === 0) for (const { name, value } of assignments) scope.variables.set(name, value);
  const { variables, substituted } = met;
  const about = { assignments, redirections, input: own ?? input, readers, variables, substituted, scope };
  return scope.session.judge(callOf(words, about));
}

function assigned({ name, value: node, index, append }: Assignment, scope: Scope): Variable {
  const met: Met = { variables: [], substituted: [] };
  if (index !== undefined) runNested(index, scope);
  const elements =
    node.type === "ArrayValue" ? node.elements.flatMap((word) => expandWord(word, scope, met)) : [];
  if (node.type === "ArrayValue") scope.variables.set(`${name}[]`, elements.join("\n"));
  const value = node.type === "ArrayValue" ? (elements[0] ?? "") : expandToText(node, scope, met);
  scope.origins.set(name, met.variables);
  return {
    name,
    value: append && node.type === "Word" ? (scope.variables.get(name) ?? UNKNOWN) + value : value,
  };
}

/** Where it writes to, and what it reads if that is said here. */
export function redirectionsOf(
  nodes: readonly RedirectionNode[],
  scope: Scope,
  met: Met = { variables: [], substituted: [] },
): Pick<Call, "redirections" | "input"> {
  const redirections: Call["redirections"] = [];
  let input: Stream | undefined;
  for (const node of nodes) {
    const text = textOf(node, scope, met);
    if (node.type !== "Redirect") input = { text, from: [] };
    else {
      redirections.push({ operator: node.operator, target: text });
      if (node.operator === "<" || node.operator === "<>") input = contentOf(text, scope);
    }
  }
  return { redirections, input };
}

function textOf(node: RedirectionNode, scope: Scope, met: Met): string {
  if (node.type !== "HereDoc") return node.target === undefined ? "" : expandToText(node.target, scope, met);
  const { parts, text } = node.body;
  return parts === undefined ? text : expandParts(parts, scope, met);
}
