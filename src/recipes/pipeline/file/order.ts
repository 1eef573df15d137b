import type { RalphError } from "../../../errors.js";
import { nearest } from "../../../nearest.js";
import { COMPLETE } from "../spec.js";
import type { WrittenState } from "./pipeline-file.js";

type Mistake = (line: number, what: string) => RalphError;

/** The states in the order in which they are passed: every one once, and then COMPLETE. */
export function checkOrder(states: WrittenState[], mistake: Mistake): WrittenState[] {
  const names = states.map(({ name }) => name);
  const passed: WrittenState[] = [];
  let current = states[0];
  while (current !== undefined) {
    passed.push(current);
    const { onPass } = current;
    if (onPass === COMPLETE) break;
    const line = lineOf(current);
    const next = states.find(({ name }) => name === onPass);
    if (next === undefined) throw mistake(line, unknownState(onPass, names));
    if (passed.includes(next)) throw mistake(line, `cycle: ${cycle(passed, next)}`);
    current = next;
  }
  const unreached = states.find((state) => !passed.includes(state));
  if (unreached !== undefined) throw mistake(unreached.line, `state ${unreached.name} is never reached`);
  return passed;
}

function lineOf({ line, lines }: WrittenState): number {
  return lines.get("onPass") ?? line;
}

function unknownState(name: string, names: string[]): string {
  const meant = nearest(name, [...names, COMPLETE]);
  return `unknown state "${name}" (${meant === undefined ? `states: ${names.join(", ")}` : `did you mean ${meant}?`})`;
}

function cycle(passed: WrittenState[], back: WrittenState): string {
  const names = passed.slice(passed.indexOf(back)).map(({ name }) => name);
  return [...names, back.name].join(" -> ");
}
