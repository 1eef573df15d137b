import { statSync } from "node:fs";
import { inspect } from "node:util";
import { z } from "zod";
import { RalphError } from "../errors.js";
import { nearest } from "../nearest.js";
import { LIMIT_ROWS, type LimitRow, LOOP_DEFAULTS } from "../settings/limits.js";
import type { LoopSpec } from "./loop-spec.js";

/** Programs without types can hand in anything: what is wrong is told before anything is started. */
export function checkSpec(spec: LoopSpec): void {
  checkFields(spec, RULES, "");
  checkFields(spec.limits ?? {}, LIMIT_RULES, "limits.");
  if (spec.specFile == null && !spec.task?.trim()) throw wrong("task", spec.task, "something to do");
  const { workspaceRoot } = spec;
  if (workspaceRoot !== undefined && !statSync(workspaceRoot, { throwIfNoEntry: false })?.isDirectory()) {
    throw wrong("workspaceRoot", workspaceRoot, "a folder that exists");
  }
}

type Rule = [schema: z.ZodType, expected: string];

const anObject = z.looseObject({});
const text = z.string().regex(/\S/);
const positive = z.number().positive();
const most = LOOP_DEFAULTS.mostIterations;

const RULES = {
  task: [z.string().optional(), "something to do"],
  checks: [z.array(text).min(1), "a list of commands, at least one"],
  specFile: [text.nullish(), "the path of a file"],
  completionTag: [text.regex(/^[^\r\n]*$/).nullish(), "one line of text, or null"],
  maxIterations: [z.int().min(1).max(most).optional(), `a whole number from 1 to ${most}`],
  maxCost: [positive.nullish(), "an amount in USD above 0, or null"],
  maxTime: [positive.nullish(), "seconds above 0, or null"],
  checkTimeout: [positive.optional(), "seconds above 0"],
  agent: [z.union([text, z.instanceof(Function)]).optional(), "a name, a command or a function"],
  model: [text.nullish(), "the name of a model, or null"],
  useWorktree: [z.union([z.boolean(), text]).optional(), "true, false or a name"],
  keepBackground: [z.boolean().optional(), "true or false"],
  workspaceRoot: [text.optional(), "the path of a folder"],
  limits: [anObject.optional(), "an object"],
  signal: [z.instanceof(AbortSignal).optional(), "an AbortSignal"],
  home: [text.optional(), "the path of a folder"],
} satisfies Record<keyof LoopSpec, Rule>;

/** The limits that have no field of their own, by their rows. */
const LIMIT_RULES = Object.fromEntries(
  LIMIT_ROWS.filter(([name]) => !["maxIterations", "maxCostUsd", "maxTimeMs"].includes(name)).map(
    ([name, row]): [string, Rule] => [name, limitRule(row)],
  ),
);

function limitRule({ kind, least = 1, default: otherwise }: LimitRow<unknown>): Rule {
  if (kind === "switch") return [z.boolean().optional(), "true or false"];
  const isCount = kind === "count";
  const schema = isCount ? z.int().min(least) : least === 0 ? z.number().min(0) : positive;
  const floor = least === 0 ? ", or 0 for never" : isCount ? " of at least 1" : " above 0";
  const expected = `${isCount ? "a whole number" : "milliseconds"}${floor}`;
  return otherwise === null ? [schema.nullish(), `${expected}, or null`] : [schema.optional(), expected];
}

function checkFields(fields: object, rules: Record<string, Rule>, where: string): void {
  if (!anObject.safeParse(fields).success) throw wrong("the configuration", fields, "an object");
  for (const key of Object.keys(fields)) {
    if (!Object.hasOwn(rules, key)) throw unknownKey(key, Object.keys(rules), where);
  }
  for (const [key, [schema, expected]] of Object.entries(rules)) {
    const value: unknown = Reflect.get(fields, key);
    if (!schema.safeParse(value).success) throw wrong(`${where}${key}`, value, expected);
  }
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
