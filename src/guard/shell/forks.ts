import {
  type CompoundList,
  type Function as FunctionNode,
  forEachChild,
  type SyntaxNode,
  type While,
} from "unbash";

/** A function that calls itself beside itself: in a pipe or in the background. */
export function forksItself(name: string, body: FunctionNode["body"]): boolean {
  return some(body, (node) => {
    const isBeside = node.type === "Pipeline" || (node.type === "Statement" && node.background === true);
    return isBeside && callsOf(name, node) > 0;
  });
}

function callsOf(name: string, node: SyntaxNode): number {
  let calls = 0;
  some(node, (inner) => {
    if (inner.type === "Command" && inner.name?.value === name) calls += 1;
    return false;
  });
  return calls;
}

export function isEndless({ kind, clause }: While): boolean {
  const command = clause.commands.at(-1)?.command;
  if (command?.type === "ArithmeticCommand") return kind === "while" && /^\s*1\s*$/.test(command.body);
  const name = command?.type === "Command" ? command.name?.value : undefined;
  return kind === "while" ? name === "true" || name === ":" : name === "false";
}

/** Something is started in the background and nothing waits: neither for it nor for some time. */
export function startsInBackground(body: SyntaxNode): boolean {
  const waits = some(body, (node) => {
    const command = node.type === "Statement" && node.background !== true ? node.command : undefined;
    return command?.type === "Command" && /^(sleep|wait|read)$/.test(command.name?.value ?? "");
  });
  return !waits && some(body, (node) => node.type === "Statement" && node.background === true);
}

/** Nothing is done in it. */
export function isIdle(body: CompoundList): boolean {
  return body.commands.every(
    ({ command }) => command.type === "Command" && /^(:|true)$/.test(command.name?.value ?? ""),
  );
}

function some(node: SyntaxNode, test: (node: SyntaxNode) => boolean): boolean {
  if (test(node)) return true;
  let found = false;
  forEachChild(node, (child) => {
    found ||= some(child, test);
  });
  return found;
}
