import { statSync } from "node:fs";
import { inspect } from "node:util";
import { RalphError } from "../errors.js";
import { nearest } from "../nearest.js";
import type { LoopSpec, MoreLimits } from "./loop-spec.js";

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

const LIMIT_RULES = {
  maxTokens: [optional((value) => isWhole(value, 1)), "a whole number of at least 1, or null"],
  iterationTimeoutMs: [optional(isPositive), "milliseconds above 0, or null"],
  inactivityTimeoutMs: [given((value) => value === 0 || isPositive(value)), "milliseconds, or 0 for never"],
  maxFailures: [given((value) => isWhole(value, 1)), "a whole number of at least 1"],
  stuckAfter: [given((value) => isWhole(value, 0)), "a whole number, or 0 for never"],
  waitForLimits: [given(isBoolean), "true or false"],
  maxLimitWaitMs: [given(isPositive), "milliseconds above 0"],
  allowOverage: [given(isBoolean), "true or false"],
} satisfies Record<keyof MoreLimits, Rule>;

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
