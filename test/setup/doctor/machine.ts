import { execFileSync } from "node:child_process";
import { agentChoice } from "../../../src/commands/doctor.js";
import { createRedactor } from "../../../src/records/redact.js";
import type { DoctorContext } from "../../../src/setup/doctor/context.js";
import type { Project } from "../../kit.js";

/** A machine that has the programs of a project's own `bin` folder and nothing else. */
export function machine(p: Project, more: Partial<DoctorContext> = {}): DoctorContext {
  const env = { ...p.env, PATH: p.bin, ...more.env };
  return {
    platform: "linux",
    uid: 1000,
    home: p.home,
    workspace: p.dir,
    records: `${p.home}/.ralph`,
    settings: { settings: SETTINGS, files: [] },
    ...agentChoice(),
    node: { version: "20.19.0", path: "/usr/bin/node", needed: ">=20.19" },
    stop: new AbortController().signal,
    ...more,
    env,
    redact: createRedactor(env),
  };
}

export const SETTINGS = {
  completionResponse: "DONE",
  outputTruncateChars: 5000,
  streamAgentOutput: true,
  includeIterationCountInPrompt: false,
  checks: [],
};

/** Puts a program on PATH that prints a version and does nothing else. */
export function prints(p: Project, name: string, text: string): string {
  return p.program(name, `#!/bin/sh\necho '${text}'\n`);
}

/** Puts the real git on PATH. */
export function realGit(p: Project): string {
  const path = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  return p.program("git", `#!/bin/sh\nexec ${path} "$@"\n`);
}
