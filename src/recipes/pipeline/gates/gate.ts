import { basename } from "node:path";
import { RUNTIME_FOLDER } from "../../../workspace/runtime.js";
import type { BeforeRun } from "./test-files.js";

/** What a gate has to say of one place. Errors fail the gate, warnings do not. */
export interface GateFinding {
  file: string;
  line: number;
  level: "error" | "warning";
  message: string;
}

export interface GateOptions {
  workspace: string;
  /** A spec, or a PRP for the gates behind `generate`. */
  file: string;
  prpFile?: string | undefined;
  spec?: string | undefined;
  tests?: string | undefined;
  testCommand?: string | undefined;
  timeoutMs: number;
  /** The code is there already: the suite is not run. */
  implemented?: boolean | undefined;
  /** What was there before the run that the gate belongs to. */
  before?: BeforeRun | undefined;
}

/** A gate of ralph's own; `templates/gates` holds what an agent has to do so that it passes. */
export interface Gate {
  about: "spec" | "PRP";
  passed: string;
  judge(text: string, options: GateOptions): GateFinding[] | Promise<GateFinding[]>;
}

export function findingsIn(file: string) {
  const at =
    (level: GateFinding["level"]) =>
    (line: number, message: string): GateFinding => ({ file, line, level, message });
  return { error: at("error"), warning: at("warning") };
}

export function errorsIn(findings: GateFinding[]): GateFinding[] {
  return findings.filter(({ level }) => level === "error");
}

/** `specs/recipe-saver.md` becomes `PRPs/recipe-saver.prp.md`. */
export function prpFileFor(specFile: string): string {
  return `PRPs/${basename(specFile).replace(/\.[^.]+$/, "")}.prp.md`;
}

export function instructionFile(gate: string): string {
  return `${RUNTIME_FOLDER}/${gate}-instruction.md`;
}
