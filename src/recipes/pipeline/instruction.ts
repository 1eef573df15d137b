import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { GATES, type GateName } from "./gates/finding.js";
import { instructionFile, isAboutSpec, prepareInstruction } from "./gates/gate.js";
import type { PipelineSpec, PipelineState } from "./spec.js";
import type { Standing } from "./standing.js";

/** A gate of ralph's own leaves one; for an agent that works before it, it is written now. */
export function instructionFor(
  { specFile, prpFile, testCommand }: PipelineSpec,
  workspace: string,
  { command }: PipelineState,
  { retries }: Standing,
): { file: string; text: string } | undefined {
  const gate = gateIn(command);
  if (gate === undefined) return undefined;
  const file = instructionFile(gate);
  const path = join(workspace, file);
  if (retries === 0 || !existsSync(path)) {
    const about = isAboutSpec(gate) ? specFile : prpFile;
    prepareInstruction(gate, { workspace, file: about, prpFile, testCommand, timeoutMs: 0 });
  }
  return existsSync(path) ? { file, text: readFileSync(path, "utf8") } : undefined;
}

/** The template of the script calls a gate, too. */
function gateIn(command: string): GateName | undefined {
  if (/\bvalidate-tests\.sh\b/.test(command)) return "check-tests";
  const name = /^\s*ralph gate ([\w-]+)/.exec(command)?.[1];
  return GATES.find((gate) => gate === name);
}
