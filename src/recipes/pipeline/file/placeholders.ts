import { RalphError } from "../../../errors.js";
import { nearest } from "../../../nearest.js";
import { quoteWord } from "../../../words.js";
import type { PipelineState } from "../spec.js";
import type { PipelineFile, WrittenState } from "./pipeline-file.js";

/** What a pipeline is about. */
export interface Values {
  specFile: string;
  prpFile: string;
  /** undefined: the project does not tell. */
  testCommand: string | undefined;
  /** Nobody can read from its output how many tests ran. */
  unknownRunner?: boolean | undefined;
}

const NAMES = ["spec_file", "prp_file", "current_state", "test_command"];

const TESTS = /\{\{\s*test_command\s*\}\}/;

/** The states with everything filled in. An unknown name, and one without a value, are mistakes of the file. */
export function filledIn({ name: file, states }: PipelineFile, values: Values): PipelineState[] {
  return states.map((state) => {
    const { line: _line, lines: _lines, ...own } = state;
    const fill = (key: "goal" | "command" | "onFail", isShell: boolean): string =>
      state[key].replace(/\{\{\s*([^{}]*?)\s*\}\}/g, (_, name: string) => {
        const value = valueFor(name, state, values, isShell);
        if (value !== undefined) return value;
        throw mistake(`${file}:${state.lines.get(key) ?? state.line}`, name, state);
      });
    return {
      ...own,
      ...(TESTS.test(state.command) && { runsTests: true }),
      ...(TESTS.test(state.command) && values.unknownRunner === true && { unknownRunner: true }),
      goal: fill("goal", false),
      command: fill("command", true),
      onFail: fill("onFail", false),
    };
  });
}

/** Names of files reach the shell as one word; a command is one already. */
function valueFor(name: string, state: WrittenState, values: Values, isShell: boolean): string | undefined {
  const word = (value: string): string => (isShell ? quoteWord(value) : value);
  switch (name) {
    case "spec_file":
      return word(values.specFile);
    case "prp_file":
      return word(values.prpFile);
    case "current_state":
      return word(state.name);
    case "test_command":
      return values.testCommand;
    default:
      return undefined;
  }
}

function mistake(place: string, name: string, { name: state }: WrittenState): RalphError {
  if (name === "test_command") {
    return new RalphError(
      `${place}: {{test_command}} has no value in state ${state}: no test command was found`,
      {
        code: "test_command_unknown",
        hint: 'give it with --test-command, such as --test-command "npm test"',
      },
    );
  }
  const meant = nearest(name, NAMES);
  return new RalphError(`${place}: unknown placeholder {{${name}}} in state ${state}`, {
    code: "pipeline_invalid",
    hint: meant === undefined ? `known: ${NAMES.join(", ")}` : `did you mean {{${meant}}}?`,
  });
}
