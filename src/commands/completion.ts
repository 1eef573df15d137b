import { basename } from "node:path";
import { isShell, SHELLS, scriptFor } from "../cli/completion/scripts.js";
import { RalphError } from "../errors.js";
import { nearest } from "../nearest.js";

/** `ralph completion SHELL`: the script that makes a shell complete ralph's commands. */
export async function completion(shell: string | undefined): Promise<number> {
  if (shell === undefined) throw noShell(basename(process.env["SHELL"] ?? ""));
  if (!isShell(shell)) throw unknownShell(shell);
  process.stdout.write(scriptFor(shell));
  return 0;
}

function noShell(own: string): RalphError {
  const hint = isShell(own) ? `yours seems to be ${own}: ralph completion ${own}` : "ralph completion --help";
  return new RalphError(`no shell was given: expected ${SHELLS.join(", ")}`, { code: "shell_missing", hint });
}

function unknownShell(shell: string): RalphError {
  const meant = nearest(shell, SHELLS);
  return new RalphError(`unknown shell ${shell}: expected ${SHELLS.join(", ")}`, {
    code: "shell_unknown",
    ...(meant !== undefined && { hint: `did you mean ${meant}?` }),
  });
}
