import { statSync } from "node:fs";
import { inspect } from "node:util";
import { RalphError } from "../errors.js";
import { nearest } from "../nearest.js";
import { LIMIT_ROWS, type LimitRow } from "../settings/limits.js";
import type { LoopSpec } from "./loop-spec.js";

/** Programs without types can hand in anything: what is wrong is told before anything is started. */
export function checkSpec(spec: LoopSpec): void {
  checkFields(spec, RULES, "");
  checkFields(spec.limits ?? {}, LIMIT_RULES, "limits.");
  if (spec.specFile == null && !isText(spec.task)) throw wrong("task", spec.task, "something to do");
  const { workspaceRoot } = spec;
  if (workspaceRoot !== undefined && !statSync(workspaceRoot, { throwIfNoEntry: false })?.isDirectory()) {
    throw wrong("workspaceRoot", workspaceRoot, "a folder that exists");
  }
}

type Rule = [isRight: (value: unknown) => boolean, expected: string];

const RULES = {
  task: [(value) => value === undefined || typeof value === "string", "something to do"],
  checks: [isListOfText, "a list of commands, at least one"],
  specFile: [optional(isText), "the path of a file"],
  completionTag: [optional((value) => isText(value) && !/[\r\n]/.test(value)), "one line of text, or null"],
  maxIterations: [given((value) => isWhole(value, 1, 100)), "a whole number from 1 to 100"],
  maxCost: [optional(isPositive), "an amount in USD above 0, or null"],
  maxTime: [optional(isPositive), "seconds above 0, or null"],
  checkTimeout: [given(isPositive), "seconds above 0"],
  agent: [given((value) => typeof value === "function" || isText(value)), "a name, a command or a function"],
  model: [optional(isText), "the name of a model, or null"],
  useWorktree: [given((value) => typeof value === "boolean" || isText(value)), "true, false or a name"],
  keepBackground: [given(isBoolean), "true or false"],
  workspaceRoot: [given(isText), "the path of a folder"],
  limits: [given(isObject), "an object"],
  signal: [given((value) => value instanceof AbortSignal), "an AbortSignal"],
  home: [given(isText), "the path of a folder"],
} satisfies Record<keyof LoopSpec, Rule>;

/** The limits that have no field of their own, by their rows. */
const LIMIT_RULES = Object.fromEntries(
  LIMIT_ROWS.filter(([name]) => !["maxIterations", "maxCostUsd", "maxTimeMs"].includes(name)).map(
    ([name, row]): [string, Rule] => [name, limitRule(row)],
  ),
);

function limitRule({ kind, least = 1, default: otherwise }: LimitRow<unknown>): Rule {
  if (kind === "switch") return [given(isBoolean), "true or false"];
  const isNullable = otherwise === null;
  const isRight: Test =
    kind === "count"
      ? (value) => isWhole(value, least)
      : (value) => isPositive(value) || (value === 0 && least === 0);
  const what = kind === "count" ? "a whole number" : "milliseconds";
  const floor = kind === "count" ? " of at least 1" : " above 0";
  const expected = least === 0 ? `${what}, or 0 for never` : `${what}${floor}`;
  return [isNullable ? optional(isRight) : given(isRight), isNullable ? `${expected}, or null` : expected];
}

function checkFields(fields: unknown, rules: Record<string, Rule>, where: string): void {
  if (!isObject(fields)) throw wrong("the configuration", fields, "an object");
  for (const key of Object.keys(fields)) {
    if (!Object.hasOwn(rules, key)) throw unknownKey(key, Object.keys(rules), where);
  }
  for (const [key, [isRight, expected]] of Object.entries(rules)) {
    if (!isRight(fields[key])) throw wrong(`${where}${key}`, fields[key], expected);
  }
}

type Test = Rule[0];

function given(test: Test): Test {
  return (value) => value === undefined || test(value);
}

function optional(test: Test): Test {
  return (value) => value == null || test(value);
}

function isBoolean(value: unknown): boolean {
  return typeof value === "boolean";
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

function isListOfText(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && [...value].every(isText);
}

function isPositive(value: unknown): boolean {
  return typeof value === "number" && Number.isFinite(value) && value > 0;
}

function isWhole(value: unknown, least: number, most = Number.MAX_SAFE_INTEGER): boolean {
  return Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function wrong(field: string, value: unknown, expected: string): RalphError {
  const shown = inspect(value, { depth: 1, breakLength: Number.POSITIVE_INFINITY, maxStringLength: 100 });
  const what = value === undefined ? `${field} is missing` : `${field} ${shown}`;
  return new RalphError(`${what}: expected ${expected}`, { code: "config_invalid" });
}

function unknownKey(key: string, known: string[], where: string): RalphError {
  const meant = nearest(key, known);
  return new RalphError(`unknown key "${where}${key}"`, {
    code: "config_invalid",
    hint: meant === undefined ? `known: ${known.join(", ")}` : `did you mean "${where}${meant}"?`,
  });
}
