import type { Assignment, Command, Redirection as RedirectionNode } from "unbash";
import { type Assigned, programOf, type Redirection, type Stream, UNKNOWN } from "../call.js";
import { processesAmong } from "../every-process.js";
import { resolvePath } from "../paths.js";
import { expandParts, expandToText, expandWord, type Met, runNested } from "./expand.js";
import type { Scope } from "./scope.js";

/** Expands a simple command and hands it to the rules. */
export function runCommand(
  node: Command,
  scope: Scope,
  input: Stream | undefined,
  readers: string[],
): Stream {
  const met: Met = { variables: [], substituted: [] };
  const assignments = node.prefix
    .filter((part) => part.type === "Assignment")
    .map((part) => assigned(part, scope));
  const { redirections, input: own } = redirectionsOf(node.redirects, scope, met);
  const words = node.name === undefined ? [] : expandWord(node.name, scope, met);
  if (met.isAssumed) words.splice(0, 1, UNKNOWN);
  for (const arg of node.args) {
    if (arg.type === "Word") words.push(...expandWord(arg, scope, met));
    else words.push(asWord(assigned(arg, scope)));
  }
  if (words.length === 0) for (const { name, value } of assignments) scope.variables.set(name, value);
  return scope.session.judge({
    program: programOf(words[0] ?? ""),
    args: words.slice(1),
    words,
    assignments,
    redirections,
    input: own ?? input,
    readers,
    variables: met.variables,
    substituted: met.substituted,
    scope,
  });
}

function asWord({ name, value }: Assigned): string {
  return `${name}=${value}`;
}

function assigned(node: Assignment, scope: Scope): Assigned {
  const met: Met = { variables: [], substituted: [] };
  if (node.index !== undefined) runNested(node, scope);
  if (node.value.type === "ArrayValue") {
    const elements = node.value.elements.flatMap((word) => expandWord(word, scope, met));
    scope.variables.set(`${node.name}[]`, elements.join("\n"));
    scope.origins.set(node.name, [...met.variables, ...processesAmong(met.substituted)]);
    return { name: node.name, value: elements[0] ?? "" };
  }
  const value = expandToText(node.value, scope, met);
  scope.origins.set(node.name, [...met.variables, ...processesAmong(met.substituted)]);
  if (!node.append) return { name: node.name, value };
  return { name: node.name, value: (scope.variables.get(node.name) ?? UNKNOWN) + value };
}

/** Where it writes to, and what it reads if that is said here. */
export function redirectionsOf(
  nodes: readonly RedirectionNode[],
  scope: Scope,
  met: Met = { variables: [], substituted: [] },
): { redirections: Redirection[]; input: Stream | undefined } {
  const redirections: Redirection[] = [];
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

/** What a file holds, if the command itself has written it. */
export function contentOf(path: string, scope: Scope): Stream {
  if (path === "/dev/null") return { text: "", from: [] };
  return (
    scope.files.get(path) ?? scope.files.get(resolvePath(path, scope)) ?? { text: undefined, from: ["<"] }
  );
}
