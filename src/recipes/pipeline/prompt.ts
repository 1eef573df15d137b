import { ending, fenced } from "../../verify/excerpt.js";
import { failureText } from "../../verify/failure.js";
import type { PipelineState } from "./spec.js";
import type { Standing } from "./standing.js";

export interface PromptParts {
  state: PipelineState;
  standing: Standing;
  maxRetries: number;
  specFile: string;
  /** undefined: the pipeline has none. */
  prpFile: string | undefined;
  /** What the gate left for agents, if it did. */
  instruction: { file: string; text: string } | undefined;
}

const ERROR_CHARS = 2000;

/** Everything that an agent gets to know: nothing is carried over beside this text and the files. */
export function statePrompt({ state, standing, maxRetries, instruction, ...files }: PromptParts): string {
  const { failures, error } = standing;
  return [
    `# ${state.name}`,
    state.goal,
    whereToLook(files),
    section("The gate", gateText(state, standing, maxRetries)),
    section("What the gate said", failures.map(failureText).join("\n\n")),
    section("What to do about it", failures.length === 0 ? "" : state.onFail),
    section("Error of the last agent", ending(error ?? "", ERROR_CHARS).trim()),
    section(
      "Instruction",
      instruction === undefined
        ? ""
        : `From ${instruction.file}:\n\n${fenced(instruction.text.trimEnd(), "markdown")}`,
    ),
    section("Constraint", failures.length === 0 ? ONLY_THE_GOAL : ONLY_THE_FINDINGS),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

const ONLY_THE_GOAL =
  "Do only what the goal asks for. Leave later states alone: they have agents of their own. Do not change the gate. Commit your work when you are done.";

const ONLY_THE_FINDINGS =
  "Fix only what the gate names, and nothing else. Do not change the gate, and do not weaken what it looks at. Commit your work when you are done.";

function whereToLook({ specFile, prpFile }: Pick<PromptParts, "specFile" | "prpFile">): string {
  const prp = prpFile === undefined ? "" : ` PRP: ${prpFile}.`;
  return `You start with a clean context; the work so far is in the files. Spec: ${specFile}.${prp}`;
}

function section(title: string, text: string): string {
  return text === "" ? "" : `## ${title}\n\n${text}`;
}

function gateText({ command }: PipelineState, { retries }: Standing, max: number): string {
  const tries = retries === 0 ? "" : ` It has failed ${retries} of at most ${max} times.`;
  return `When you have finished, ralph runs this gate, and it has to pass.${tries}\n\n${fenced(command, "sh")}`;
}
