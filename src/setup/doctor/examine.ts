import { describeSystemError } from "../../errors.js";
import { redactDeep } from "../../records/redact.js";
import { examineAgents } from "./agents.js";
import type { DoctorContext } from "./context.js";
import type { Finding } from "./finding.js";
import { examineGit } from "./git.js";
import { examineSandboxes } from "./sandboxes.js";
import { examineSettings } from "./settings.js";
import { examineSystem } from "./system.js";

/** In the order they are shown; agents are the slowest to answer. */
const EXAMINATIONS = {
  settings: examineSettings,
  git: examineGit,
  system: examineSystem,
  sandboxes: examineSandboxes,
  agents: examineAgents,
} satisfies Record<string, (context: DoctorContext) => Promise<Finding[]>>;

export interface Examination {
  group: string;
  /** Never fails: what cannot be examined is a finding. */
  findings: Promise<Finding[]>;
}

/** Starts everything at once. */
export function examine(context: DoctorContext): Examination[] {
  return Object.entries(EXAMINATIONS).map(([group, run]) => ({
    group,
    findings: run(context)
      .catch((error: unknown) => [unexamined(group, error)])
      .then((findings) => redactDeep(findings, context.redact)),
  }));
}

function unexamined(name: string, error: unknown): Finding {
  const message = `could not be examined: ${describeSystemError(error)}`;
  return { name, status: "problem", message, fix: "this is a bug in ralph: please report it" };
}
