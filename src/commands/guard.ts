import { text as readAll } from "node:stream/consumers";
import { RalphError } from "../errors.js";
import { ALLOWED_FILE } from "../guard/allowed-commands.js";
import { CATEGORIES, type Verdict } from "../guard/finding.js";
import { judgeCommand } from "../guard/guard.js";
import { placeOf } from "../hooks/guard-call.js";
import { guardLines } from "../views/findings.js";
import { harmlessJson } from "../views/harmless.js";
import { formatterFor, type OutputFlags, printAll } from "./output.js";

export type GuardFlags = Pick<OutputFlags, "json" | "color" | "emoji">;

/** `ralph guard`: what would happen to a command, and why. Nothing is run. */
export async function guard(given: string, flags: GuardFlags): Promise<number> {
  const command = given === "-" ? await readAll(process.stdin) : given;
  if (command.trim() === "") throw emptyCommand(given);
  const place = placeOf(process.cwd(), process.env);
  for (const { line, why } of place.allowed.ignored)
    process.stderr.write(`ralph: ${ALLOWED_FILE}${line === 0 ? "" : `:${line}`} is not taken: ${why}\n`);
  const verdict = judgeCommand(command, place);
  await printAll(
    flags.json
      ? `${harmlessJson({ v: 1, command, ...verdict }, 2)}\n`
      : `${linesOf(verdict, flags).join("\n")}\n`,
  );
  return verdict.allowed ? 0 : 1;
}

function linesOf({ allowed, refusals, warnings }: Verdict, flags: GuardFlags): string[] {
  const reasons = [...refusals, ...warnings].map(({ category, level, reason, command }) => {
    const title = level === "warn" ? `${CATEGORIES[category]}, a warning` : CATEGORIES[category];
    return { title, reason, command };
  });
  return guardLines(allowed, reasons, formatterFor(flags), process.stdout.columns);
}

function emptyCommand(given: string): RalphError {
  return new RalphError(given === "-" ? "there is no command on stdin" : "the command is empty", {
    code: "guard_empty",
    hint: 'as in: ralph guard "rm -rf build"',
  });
}
