import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { parseDuration } from "../../duration.js";
import { orElse, RalphError, type RalphErrorOptions } from "../../errors.js";
import { inPackage } from "../../package-folder.cjs";
import { CHECK_TIMEOUT_MS } from "../../settings/limits.js";
import { donePattern } from "../../verify/done.js";
import { didYouMean, quoteWord } from "../../words.js";
import { isKnownRunner, testCommand } from "../../workspace/project.js";
import { readTextFile } from "../prompt.js";
import {
  AGENT_TURNS,
  COMPLETE,
  PIPELINE_FILES,
  type PipelineSpec,
  type PipelineState,
  RESERVED,
} from "./spec.js";

export const VALIDATE_TESTS = "validate-tests.sh";

const DEFAULT = inPackage("templates/pipeline.yaml");
const DEFAULT_RETRIES = 5;

/** Messages of the schema say what was expected, or all that is wrong. */
const TEXT = z.string("some text").regex(/\S/, "some text");
const DURATION = "a duration, such as 90s, 10m or 2h";
const MAP = "keys and values";

function wholeNumber(range: string, most = Number.MAX_SAFE_INTEGER) {
  const message = `a whole number from 0 ${range}`;
  return z.int(message).min(0, message).max(most, message);
}

const PATTERN = TEXT.superRefine((pattern, { addIssue }) => {
  try {
    donePattern(pattern);
  } catch (error) {
    addIssue(`is not a regular expression: ${(error as Error).message}`);
  }
});

const CONDITION = z.strictObject(
  { exitCode: wholeNumber("to 255", 255).default(0), output: PATTERN.optional() },
  MAP,
);

const STATE = z.strictObject(
  {
    goal: TEXT.optional(),
    command: TEXT,
    passCondition: CONDITION.default({ exitCode: 0 }),
    onFail: TEXT.default(""),
    onPass: TEXT.optional(),
    agent: z.enum(AGENT_TURNS, AGENT_TURNS.join(", ")).default("on-fail"),
    timeout: z
      .union([z.string(), z.number()], DURATION)
      .transform((value) => parseDuration(String(value)) ?? 0)
      .refine((ms) => ms > 0, DURATION)
      .optional(),
  },
  MAP,
);

const STATES = z.record(z.string(), STATE, MAP).superRefine((states, { addIssue }) => {
  const names = Object.keys(states);
  if (names.length === 0) addIssue("holds no state");
  for (const name of names)
    if (!/^[A-Za-z][\w-]*$/.test(name) || RESERVED.includes(name))
      addIssue({
        code: "custom",
        path: [name],
        message: `is not a state name: use letters, digits, _ and -, but not ${RESERVED.join(", ")}`,
      });
});

const FILE = z.strictObject(
  { maxGateRetries: wholeNumber("on").default(DEFAULT_RETRIES), states: STATES },
  MAP,
);

/** The keys that have a meaning in a map, by how deep it stands. */
const KEYS = [FILE, undefined, STATE, CONDITION].map((map) => Object.keys(map?.shape ?? {}));

/** What a pipeline is about; without a test command it is looked for. */
export type About = Pick<PipelineSpec, "specFile" | "prpFile" | "testCommand" | "checkTimeoutMs">;

export type Pipeline = Pick<PipelineSpec, "states" | "maxGateRetries" | "testCommand">;

/** The pipeline of a project: its own file, else the default one. Everything that is wrong is found here. */
export async function loadPipeline(project: string, about: About): Promise<Pipeline> {
  const own = ownPipeline(project);
  if (own === undefined)
    return readPipeline(defaultPipeline(project), "the default pipeline", about, project);
  return readPipeline(readTextFile("pipeline", own, project), own, about, project);
}

export function ownPipeline(project: string): string | undefined {
  const [own, other] = PIPELINE_FILES.filter((file) => existsSync(join(project, file)));
  if (other === undefined) return own;
  const why = { code: "pipeline_twice", hint: "keep one of them" };
  throw new RalphError(`${own} and ${other} are both there`, why);
}

/** With the project's own script for CHECK_TESTS, where it has one. */
export function defaultPipeline(project: string): string {
  const text = readFileSync(DEFAULT, "utf8");
  return orElse(() => {
    accessSync(join(project, VALIDATE_TESTS), constants.X_OK);
    return text.replace("ralph gate check-tests {{prp_file}}", `./${VALIDATE_TESTS} tests/`);
  }, text);
}

/** A pipeline, or an error that names the line of the mistake. */
export async function readPipeline(
  text: string,
  file: string,
  about: About,
  project: string,
): Promise<Pipeline> {
  const { data, mistake } = await parsed(text, file);
  const names = Object.keys(data.states);
  const written = Object.entries(data.states).map(([name, state], index): PipelineState => {
    const { passCondition, timeout: timeoutMs = about.checkTimeoutMs ?? CHECK_TIMEOUT_MS, ...own } = state;
    const { goal = `The gate of ${name} passes.`, onPass = names[index + 1] ?? COMPLETE } = own;
    return { name, ...own, ...passCondition, goal, onPass, timeoutMs };
  });
  // What the project says of IMPLEMENT itself is how its tests are run.
  const implement = data.states["IMPLEMENT"]?.command;
  const ownCommand = implement?.includes("{{") ? undefined : implement;
  const command = about.testCommand ?? ownCommand ?? testCommand(project);
  const unknownRunner = command !== undefined && !isKnownRunner(command, project) && { unknownRunner: true };
  const states = inOrder(written, mistake).map((state) => ({
    ...filledIn(state, { ...about, testCommand: command }, mistake),
    ...(/\{\{\s*test_command\s*\}\}/.test(state.command) && { runsTests: true, ...unknownRunner }),
  }));
  return { states, maxGateRetries: data.maxGateRetries, testCommand: command };
}

/** Makes the error about what stands at a path, or where it is missing. */
type MistakeAt = (path: PropertyKey[], what: string, options?: Partial<RalphErrorOptions>) => RalphError;

async function parsed(text: string, file: string) {
  const { isMap, isScalar, LineCounter, parseDocument } = await import("yaml");
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter });
  const at = (line: number, what: string, options = {}): RalphError =>
    new RalphError(`${file}:${line}: ${what}`, { code: "pipeline_invalid", ...options });
  const mistake: MistakeAt = (path, what, options) => {
    if (path.length === 0) return at(1, what, options);
    const map = document.getIn(path.slice(0, -1), true);
    const isIt = (key: unknown): boolean => isScalar(key) && String(key.value) === String(path.at(-1));
    const key = isMap(map) ? map.items.find((pair) => isIt(pair.key))?.key : undefined;
    if (!isScalar(key) || !key.range) return mistake(path.slice(0, -1), what, options);
    return at(counter.linePos(key.range[0]).line, what, options);
  };
  const [broken] = document.errors;
  if (broken !== undefined) {
    const [message = ""] = broken.message.split("\n", 1);
    throw at(broken.linePos?.[0].line ?? 1, message.replace(/ at line.*$/, ""));
  }
  const { data, error } = FILE.safeParse(document.toJS());
  if (data !== undefined) return { data, mistake };
  const [issue] = error.issues as [z.core.$ZodIssue];
  throw mistake(...whatIsWrong(issue, document.getIn(issue.path)));
}

/** What an issue of the schema means, in the words of the file. */
function whatIsWrong(issue: z.core.$ZodIssue, value: unknown): [path: PropertyKey[], what: string] {
  const { path, message } = issue;
  const key = String(path.at(-1));
  const what = path.length === 0 ? "the file" : path.length === 2 ? `state ${key}` : `"${key}"`;
  if (issue.code === "unrecognized_keys") {
    const [unknown = ""] = issue.keys;
    const hint = hintFor(unknown, KEYS[path.length] ?? []);
    return [[...path, unknown], `unknown key "${unknown}" in ${what} (${hint})`];
  }
  if (/^(?:is|holds) /.test(message)) return [path, `${what} ${message}`];
  if (value === undefined) return [path, `${what} is missing: expected ${message}`];
  return [path, `${what} has ${JSON.stringify(value)}: expected ${message}`];
}

function hintFor(name: string, known: string[]): string {
  return didYouMean(name, known) ?? `known: ${known.join(", ")}`;
}

/** The states in the order in which they are passed: every one once, and then COMPLETE. */
function inOrder(states: PipelineState[], mistake: MistakeAt): PipelineState[] {
  const names = states.map(({ name }) => name);
  const passed: PipelineState[] = [];
  for (let next = names[0] ?? COMPLETE; next !== COMPLETE; next = passed.at(-1)?.onPass ?? COMPLETE) {
    const state = states.find(({ name }) => name === next);
    const path = ["states", passed.at(-1)?.name ?? "", "onPass"];
    if (state === undefined)
      throw mistake(path, `unknown state "${next}" (${hintFor(next, [...names, COMPLETE])})`);
    if (passed.includes(state)) {
      const cycle = [...passed.slice(passed.indexOf(state)), state].map(({ name }) => name);
      throw mistake(path, `cycle: ${cycle.join(" -> ")}`);
    }
    passed.push(state);
  }
  const unreached = states.find((state) => !passed.includes(state))?.name;
  if (unreached !== undefined) throw mistake(["states", unreached], `state ${unreached} is never reached`);
  return passed;
}

/** An unknown placeholder, and one without a value, are mistakes of the file. */
function filledIn(state: PipelineState, about: About, mistake: MistakeAt): PipelineState {
  const { name } = state;
  const { specFile: spec_file, prpFile: prp_file, testCommand: test_command } = about;
  const values = new Map(Object.entries({ spec_file, prp_file, current_state: name, test_command }));
  const fill = (key: "goal" | "command" | "onFail"): string =>
    state[key].replace(/\{\{\s*([^{}]*?)\s*\}\}/g, (_, placeholder: string) => {
      const value = values.get(placeholder);
      // Names of files reach the shell as one word; a command is several.
      if (value !== undefined)
        return key === "command" && placeholder !== "test_command" ? quoteWord(value) : value;
      const [what, options] = values.has(placeholder)
        ? ["has no value: no test command was found", NO_TEST_COMMAND]
        : ["is unknown", { hint: hintFor(placeholder, [...values.keys()]) }];
      throw mistake(["states", name, key], `{{${placeholder}}} in state ${name} ${what}`, options);
    });
  return { ...state, goal: fill("goal"), command: fill("command"), onFail: fill("onFail") };
}

const NO_TEST_COMMAND = {
  code: "test_command_unknown",
  hint: 'name it: --test-command "npm test"',
};
