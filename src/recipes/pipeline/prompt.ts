import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { ending, fenced } from "../../verify/excerpt.js";
import { failureText } from "../../verify/failure.js";
import { textAt } from "../../workspace/content.js";
import { howToAsk } from "../prompt.js";
import { instructionFile } from "./gates/gate.js";
import { GATES, isGate, writeInstruction } from "./gates/index.js";
import type { PipelinePosition } from "./moves.js";
import type { PipelineSpec, PipelineState } from "./spec.js";

const ERROR_CHARS = 2000;

/** Everything that an agent gets to know: nothing is carried over beside this text and the files. */
export function statePrompt(
  spec: PipelineSpec,
  workspace: string,
  state: PipelineState,
  { failures, error, retries }: PipelinePosition,
): string {
  const hasPrp = spec.states.some(({ command, goal }) => `${command} ${goal}`.includes(spec.prpFile));
  const prp = hasPrp ? ` PRP: ${spec.prpFile}.` : "";
  const tries = retries === 0 ? "" : ` This is retry ${retries} of ${spec.maxGateRetries}.`;
  const sections = {
    "The gate": `When you have finished, ralph runs this gate. It must pass.${tries}\n\n${fenced(state.command, "sh")}`,
    "What the gate said": failures.map(failureText).join("\n\n"),
    "What to do about it": failures.length === 0 ? "" : state.onFail,
    "Error of the last agent": ending(error ?? "", ERROR_CHARS).trim(),
    Instruction: instructionText(spec, workspace, state, retries),
    Constraint: failures.length === 0 ? ONLY_THE_GOAL : ONLY_THE_FINDINGS,
    "If you cannot continue": howToAsk(state.goal).join(""),
  };
  return [
    `# ${state.name}`,
    state.goal,
    `You start with a fresh context; the files contain the work so far. Spec: ${spec.specFile}.${prp}`,
    ...Object.entries(sections).flatMap(([title, text]) => (text === "" ? [] : [`## ${title}`, text])),
  ].join("\n\n");
}

const ONLY_THE_GOAL =
  "Do only what the goal asks for. Leave later states alone: they have agents of their own. Do not change the gate. Commit your work when you are done.";

const ONLY_THE_FINDINGS =
  "Fix only what the gate names, and nothing else. Do not change the gate, and do not weaken what it checks. Commit your work when you are done.";

/** A gate of ralph's own leaves one; for an agent that works before it, it is written now. */
function instructionText(
  spec: PipelineSpec,
  workspace: string,
  { command }: PipelineState,
  retries: number,
): string {
  // The template of the script calls a gate, too.
  const called = /^\s*ralph gate ([\w-]+)/.exec(
    command.replace(/^.*\bvalidate-tests\.sh\b/, "ralph gate check-tests"),
  );
  const gate = called?.[1] ?? "";
  if (!isGate(gate)) return "";
  const file = instructionFile(gate);
  const about = GATES[gate].about === "spec" ? spec.specFile : spec.prpFile;
  const text = textAt(resolve(workspace, about));
  if (text !== undefined && (retries === 0 || !existsSync(join(workspace, file))))
    writeInstruction(gate, { ...spec, workspace, file: about }, text, []);
  const instruction = textAt(join(workspace, file))?.trimEnd();
  return instruction === undefined ? "" : `From ${file}:\n\n${fenced(instruction, "markdown")}`;
}
