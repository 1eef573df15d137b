import { accessSync, constants, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { RalphError } from "../errors.js";
import { which } from "../process/which.js";
import { splitWords } from "../words.js";
import { repositoryRoot } from "./git.js";
import { RUNTIME_FOLDER } from "./runtime.js";
import { type Scm, usesGit } from "./scm.js";

/** What would fail in the middle of the night fails now. */
export function checkWorkspace(workspace: string): void {
  try {
    accessSync(workspace, constants.W_OK);
  } catch (error) {
    throw new RalphError(`the project folder is read-only: ${workspace}`, {
      code: "workspace_read_only",
      hint: "make it writable, or run ralph in another checkout",
      cause: error,
    });
  }
  const folder = join(workspace, RUNTIME_FOLDER);
  if (existsSync(folder) && !statSync(folder).isDirectory()) {
    throw new RalphError(`${RUNTIME_FOLDER} is not a folder: ${folder}`, {
      code: "not_a_folder",
      hint: "ralph keeps settings and logs there: rename the file",
    });
  }
}

/** The same for the settings' `scm`. */
export function checkScm(workspace: string, scm: Scm | undefined, env: NodeJS.ProcessEnv): void {
  if (scm === undefined) return;
  if (which(splitWords(scm.command)[0] ?? "", workspace, env["PATH"]).status !== "found") {
    throw new RalphError(`scm command not found: ${scm.command}`, {
      code: "scm_not_found",
      hint: "install it, or change scm.command in the settings",
    });
  }
  if (usesGit(scm) && repositoryRoot(workspace) === undefined) {
    throw new RalphError(`not a git repository: ${workspace}`, {
      code: "not_a_repository",
      hint: "scm in the settings needs one: run git init, or remove scm",
    });
  }
}
