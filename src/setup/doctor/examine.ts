import { describeSystemError, RalphError } from "../../errors.js";
import { redactDeep } from "../../records/redact.js";
import { checkScm } from "../../workspace/scm.js";
import { examineAgents } from "./agents.js";
import { asRefusal, type DoctorContext, type DoctorFinding, refused } from "./context.js";
import { examineGit } from "./git.js";
import { examineSandboxes } from "./sandboxes.js";
import { examineSystem } from "./system.js";

/** In the order they are shown; agents are the slowest to answer. */
const EXAMINATIONS = {
  settings: examineSettings,
  git: examineGit,
  system: examineSystem,
  sandboxes: examineSandboxes,
  agents: examineAgents,
} satisfies Record<string, (context: DoctorContext) => Promise<DoctorFinding[]>>;

export interface Examination {
  group: string;
  /** Never fails: what cannot be examined is a finding. */
  findings: Promise<DoctorFinding[]>;
}

/** Starts everything at once. */
export function examine(context: DoctorContext): Examination[] {
  return Object.entries(EXAMINATIONS).map(([group, run]) => ({
    group,
    findings: run(context)
      .catch((error: unknown): DoctorFinding[] => {
        const message = `could not be examined: ${describeSystemError(error)}`;
        return [{ name: group, status: "problem", message, fix: "this is a bug in ralph: please report it" }];
      })
      .then((findings) => redactDeep(findings, context.redact)),
  }));
}

/** Whether `ralph run` would take the settings of this folder. */
export async function examineSettings({
  settings: loaded,
  workspace,
  env,
}: DoctorContext): Promise<DoctorFinding[]> {
  if (loaded instanceof RalphError) return [invalid("files", loaded)];
  const { scm } = loaded.settings;
  const files = loaded.files.map(({ name }) => name);
  const message = files.length === 0 ? "none, so the defaults are used" : `valid: ${files.join(", ")}`;
  const found: DoctorFinding = { name: "files", status: "ok", message, files };
  if (scm === undefined) return [found];
  try {
    checkScm(workspace, scm, env);
    return [found, { name: "scm", status: "ok", message: `${scm.command}: ${scm.tasks.join(", ")}` }];
  } catch (error) {
    return [found, invalid("scm", asRefusal(error))];
  }
}

function invalid(name: string, error: RalphError): DoctorFinding {
  return { fix: "correct the file and run ralph doctor again", ...refused(name, "problem", error) };
}
