import { RalphError } from "../../errors.js";
import type { LoadedSettings } from "../../settings/load.js";
import { checkScm } from "../../workspace/scm.js";
import type { DoctorContext } from "./context.js";
import type { Finding } from "./finding.js";

/** Whether `ralph run` would take the settings of this folder. */
export async function examineSettings(context: DoctorContext): Promise<Finding[]> {
  const { settings } = context;
  if (settings instanceof RalphError) return [refused("files", settings)];
  return [filesFound(settings), ...scmFound(context, settings)];
}

function filesFound({ files }: LoadedSettings): Finding {
  const names = files.map(({ name }) => name);
  const message = names.length === 0 ? "none, so the defaults are used" : `valid: ${names.join(", ")}`;
  return { name: "files", status: "ok", message, files: names };
}

function scmFound({ workspace, env }: DoctorContext, { settings: { scm } }: LoadedSettings): Finding[] {
  if (scm === undefined) return [];
  try {
    checkScm(workspace, scm, env);
    return [{ name: "scm", status: "ok", message: `${scm.command}: ${scm.tasks.join(", ")}` }];
  } catch (error) {
    if (error instanceof RalphError) return [refused("scm", error)];
    throw error;
  }
}

/** The words of `ralph run`. */
function refused(name: string, { message, hint }: RalphError): Finding {
  return { name, status: "problem", message, fix: hint ?? "correct the file and run ralph doctor again" };
}
