import { statSync } from "node:fs";
import { z } from "zod";
import { type FunctionAgent, shown } from "../ask/run-function.js";
import { RalphError } from "../errors.js";
import type { Limits } from "../events.js";
import { LIMIT_ROWS, LOOP_DEFAULTS } from "../settings/limits.js";
import { nearest } from "../words.js";

/** What a loop is asked to do: `ralph loop` in the words of a program. */
export interface LoopSpec {
  /** What to do. Needed unless a spec file takes its place. */
  task?: string | undefined;
  /** Shell commands that must all exit 0: at least one. They run in the workspace, in this order. */
  checks: readonly string[];
  /** A file that is read anew for each iteration, from the workspace if its path is relative. */
  specFile?: string | null | undefined;
  /** What the agent says when it is done; null: the checks alone decide. Default: `COMPLETE`. */
  completionTag?: string | null | undefined;
  /** 1 to 100. Default: 25. */
  maxIterations?: number | undefined;
  /** In USD. Default: none. */
  maxCost?: number | null | undefined;
  /** In seconds. Default: none. */
  maxTime?: number | null | undefined;
  /** In seconds, for checks without a time limit of their own. Default: 600. */
  checkTimeout?: number | undefined;
  /**
   * A known agent, a profile in the settings, any command line, or a function of yours. Default: the agent of
   * the settings, else the one that is on PATH.
   */
  agent?: string | FunctionAgent | undefined;
  /** In the agent's own words. */
  model?: string | null | undefined;
  /** Work in a git worktree of its own; a string names it. Default: false. */
  useWorktree?: boolean | string | undefined;
  /** Leave alone what agents and checks leave running. Default: false. */
  keepBackground?: boolean | undefined;
  /** The project. Default: the current folder. */
  workspaceRoot?: string | undefined;
  /** The other limits. */
  limits?: MoreLimits | undefined;
  /** Ends the run as `interrupted`, with the agent or the check at work. */
  signal?: AbortSignal | undefined;
  /** Where records are kept. Default: `$RALPH_HOME`, else `~/.ralph`. */
  home?: string | undefined;
}

const NAMED = ["maxIterations", "maxCostUsd", "maxTimeMs"] as const;

/** The limits that `ralph loop` has as flags, under the names of the events. */
export type MoreLimits = {
  [Name in Exclude<keyof Limits, (typeof NAMED)[number]>]?: Limits[Name] | undefined;
};

/** Programs without types can pass anything: ralph names mistakes before it starts anything. */
export function checkSpec(spec: LoopSpec): void {
  checkFields(spec, RULES, "");
  checkFields(spec.limits ?? {}, LIMIT_RULES, "limits.");
  if (spec.specFile == null && !spec.task?.trim()) throw wrong("task", spec.task, "something to do");
  const { workspaceRoot } = spec;
  if (workspaceRoot !== undefined && !statSync(workspaceRoot, { throwIfNoEntry: false })?.isDirectory())
    throw wrong("workspaceRoot", workspaceRoot, "a folder that exists");
}

type FieldRule = [schema: z.ZodType, expected: string];

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
} satisfies Record<keyof LoopSpec, FieldRule>;

/** The limits that have no field of their own, by their rows. */
const LIMIT_RULES = Object.fromEntries(
  LIMIT_ROWS.filter(([name]) => !NAMED.some((one) => one === name)).map(
    ([name, { kind, least = 1, ...row }]) => {
      if (kind === "switch") return [name, [z.boolean().optional(), "true or false"]];
      const isCount = kind === "count";
      const schema = isCount ? z.int().min(least) : least === 0 ? z.number().min(0) : positive;
      const floor = least === 0 ? ", or 0 for never" : isCount ? " of at least 1" : " above 0";
      const orNull = row.default === null ? ", or null" : "";
      const expected = `${isCount ? "a whole number" : "milliseconds"}${floor}${orNull}`;
      return [name, [orNull ? schema.nullish() : schema.optional(), expected]];
    },
  ),
) as Record<string, FieldRule>;

function checkFields(fields: object, rules: Record<string, FieldRule>, where: string): void {
  if (!anObject.safeParse(fields).success) throw wrong("the configuration", fields, "an object");
  const known = Object.keys(rules);
  const unknown = Object.keys(fields).find((key) => !known.includes(key));
  if (unknown !== undefined) {
    const meant = nearest(unknown, known);
    throw new RalphError(`unknown key "${where}${unknown}"`, {
      code: "config_invalid",
      hint: meant === undefined ? `known: ${known.join(", ")}` : `did you mean "${where}${meant}"?`,
    });
  }
  for (const [key, [schema, expected]] of Object.entries(rules)) {
    const value: unknown = Reflect.get(fields, key);
    if (!schema.safeParse(value).success) throw wrong(`${where}${key}`, value, expected);
  }
}

function wrong(field: string, value: unknown, expected: string): RalphError {
  const what = value === undefined ? `${field} is missing` : `${field} ${shown(value)}`;
  return new RalphError(`${what}: expected ${expected}`, { code: "config_invalid" });
}
