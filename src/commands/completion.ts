import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { RalphError } from "../errors.js";
import { nearest } from "../nearest.js";
import { inPackage } from "../package-folder.cjs";

/** Each shell and its script; the names are those that the shells look for in their own folders. */
const SCRIPTS = { bash: "ralph.bash", zsh: "_ralph", fish: "ralph.fish" };
const SHELLS = Object.keys(SCRIPTS);

function isShell(name: string): name is keyof typeof SCRIPTS {
  return Object.hasOwn(SCRIPTS, name);
}

/** `ralph completion SHELL`: the script that makes a shell complete ralph's commands. */
export async function completion(shell: string | undefined): Promise<number> {
  if (shell === undefined) throw noShell(basename(process.env["SHELL"] ?? ""));
  if (!isShell(shell)) throw unknownShell(shell);
  process.stdout.write(readFileSync(inPackage(`completions/${SCRIPTS[shell]}`), "utf8"));
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
