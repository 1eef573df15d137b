import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { RalphError } from "../errors.js";
import { didYouMean } from "../nearest.js";
import { inPackage } from "../package-folder.cjs";

/** Each shell and its script; the names are those that the shells look for in their own folders. */
const SCRIPTS: Record<string, string> = { bash: "ralph.bash", zsh: "_ralph", fish: "ralph.fish" };
const SHELLS = Object.keys(SCRIPTS);
const EXPECTED = `expected ${SHELLS.join(", ")}`;

/** `ralph completion SHELL`: the script that makes a shell complete ralph's commands. */
export async function completion(shell: string | undefined): Promise<number> {
  if (shell === undefined) {
    const own = basename(process.env["SHELL"] ?? "");
    const hint = SHELLS.includes(own)
      ? `yours seems to be ${own}: ralph completion ${own}`
      : "ralph completion --help";
    throw new RalphError(`no shell was given: ${EXPECTED}`, { code: "shell_missing", hint });
  }
  if (!SHELLS.includes(shell))
    throw new RalphError(`unknown shell ${shell}: ${EXPECTED}`, {
      code: "shell_unknown",
      hint: didYouMean(shell, SHELLS),
    });
  process.stdout.write(readFileSync(inPackage(`completions/${SCRIPTS[shell]}`), "utf8"));
  return 0;
}
