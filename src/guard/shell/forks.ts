import { type Function as FunctionNode, forEachChild, type SyntaxNode, type While } from "unbash";

/** A function that calls itself beside itself: in a pipe or in the background. */
export function forksItself(name: string, body: FunctionNode["body"]): boolean {
  const isCall = (node: SyntaxNode) => node.type === "Command" && node.name?.value === name;
  return some(body, (node) => (node.type === "Pipeline" || isInBackground(node)) && some(node, isCall));
}

/** Something is started in the background again and again, and nothing waits: neither for it nor for some time. */
export function isEndless({ kind, clause }: While): boolean {
  const command = clause.commands.at(-1)?.command;
  if (command?.type === "ArithmeticCommand") return kind === "while" && /^\s*1\s*$/.test(command.body);
  const name = command?.type === "Command" ? command.name?.value : undefined;
  return kind === "while" ? name === "true" || name === ":" : name === "false";
}

export function startsInBackground(body: SyntaxNode): boolean {
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
