import { text as readAll } from "node:stream/consumers";
import { RalphError } from "../errors.js";
import { ALLOWED_FILE } from "../guard/allowed-commands.js";
import { judgeCommand } from "../guard/guard.js";
import { placeAt } from "../guard/place.js";
import { guardJson, guardLines } from "../views/guard.js";
import { formatterFor, type OutputFlags, printAll } from "./output.js";

export type GuardFlags = Pick<OutputFlags, "json" | "color" | "emoji">;

/** `ralph guard`: what would happen to a command, and why. Nothing is run. */
export async function guard(given: string, flags: GuardFlags): Promise<number> {
  const command = given === "-" ? await readAll(process.stdin) : given;
  if (command.trim() === "") throw emptyCommand(given);
  const place = placeAt(process.cwd());
  for (const { line, why } of place.allowed.ignored)
    process.stderr.write(`ralph: ${ALLOWED_FILE}${line === 0 ? "" : `:${line}`} is not taken: ${why}\n`);
  const verdict = judgeCommand(command, place);
  await printAll(flags.json ? guardJson(command, verdict) : guardLines(verdict, formatterFor(flags)));
  return verdict.allowed ? 0 : 1;
}

function emptyCommand(given: string): RalphError {
  return new RalphError(given === "-" ? "there is no command on stdin" : "the command is empty", {
    code: "guard_empty",
    hint: 'as in: ralph guard "rm -rf build"',
  });
}
