import { isUtf8 } from "node:buffer";
import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { describeSystemError, RalphError, type RalphErrorOptions, systemErrorCode } from "../errors.js";
import { git } from "../workspace/git.js";

/** A file that holds what to ask: read anew for each iteration, so that it can be edited while the loop runs. */
export function readTextFile(what: string, file: string, workspace: string): string {
  const text = readAnyText(what, file, workspace);
  if (text.trim() !== "") return text;
  throw new RalphError(`the ${what} is empty: ${file}`, { code: "text_file_empty" });
}

/** The same for a file that may be empty. */
export function readAnyText(what: string, file: string, workspace: string): string {
  const bytes = readBytes(what, file, resolve(workspace, file));
  if (bytes.includes(0) || !isUtf8(bytes)) throw unreadable(what, file, "it is not a text file in UTF-8");
  return bytes.toString("utf8");
}

function readBytes(what: string, name: string, path: string): Buffer {
  try {
    // A pipe could be read once, and this is read many times.
    if (statSync(path).isFile()) return readFileSync(path);
  } catch (error) {
    if (systemErrorCode(error) !== "ENOENT") throw unreadable(what, name, describeSystemError(error), error);
    throw new RalphError(`${what} not found: ${name}`, { code: "text_file_unreadable", cause: error });
  }
  throw unreadable(what, name, statSync(path).isDirectory() ? "it is a directory" : "it is not a plain file");
}

/** What is not committed is not in a new worktree. `why`: the code of the error, and what to do. */
export async function refuseUncommitted(folder: string, file: string, why: RalphErrorOptions): Promise<void> {
  const { ok, stdout } = await git(folder, ["show", `HEAD:./${file}`]);
  if (ok && stdout === readFileSync(resolve(folder, file), "utf8")) return;
  throw new RalphError(`${file} is not committed as it is, so a worktree would not have it`, why);
}

function unreadable(what: string, name: string, why: string, cause?: unknown): RalphError {
  return new RalphError(`cannot read ${what}: ${name} (${why})`, { code: "text_file_unreadable", cause });
}

/** What every agent has to know to end its turn: how to say that it is done, and how to ask a person. */

const HOW_TO_ASK =
  "If you cannot continue without a person, end your final message with <promise>BLOCKED: what you need</promise> on a line of its own. If a person has to decide something, end it with <promise>DECIDE: the question and the choices</promise>. The run then stops, and continues with the answer.";

/** A prompt that says it in its own way is left as it is. */
export function howToAsk(prompt: string): string[] {
  return /<promise>\s*(?:BLOCKED|DECIDE)/i.test(prompt) ? [] : [HOW_TO_ASK];
}

export function howToSayDone(words: string, hasChecks: boolean): string {
  const when = hasChecks ? " and the checks pass" : "";
  return `Only if the whole task is done${when}, end your final message with ${words} on a line of its own. If anything is left to do, do not write ${words}.`;
}
