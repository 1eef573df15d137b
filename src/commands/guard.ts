import { text as readAll } from "node:stream/consumers";
import { RalphError } from "../errors.js";
import { ALLOWED_FILE } from "../guard/allowed-commands.js";
import { CATEGORIES } from "../guard/finding.js";
import { judgeCommand } from "../guard/guard.js";
import { placeOf } from "../hooks/guard-call.js";
import { guardLines } from "../views/findings.js";
import { formatterFor, type LookFlags, printAs } from "./output.js";

/** `ralph guard`: what would happen to a command, and why. Nothing is run. */
export async function guard(given: string, flags: LookFlags): Promise<number> {
  const command = given === "-" ? await readAll(process.stdin) : given;
  if (command.trim() === "")
    throw new RalphError(given === "-" ? "there is no command on stdin" : "the command is empty", {
      code: "guard_empty",
      hint: 'as in: ralph guard "rm -rf build"',
    });
  const place = placeOf(process.cwd(), process.env);
  for (const { line, why } of place.allowed.ignored)
    process.stderr.write(`ralph: ${ALLOWED_FILE}${line === 0 ? "" : `:${line}`} is not taken: ${why}\n`);
  const verdict = judgeCommand(command, place);
  const { allowed, refusals, warnings } = verdict;
  const reasons = [...refusals, ...warnings].map(({ category, level, ...found }) => {
    const title = level === "warn" ? `${CATEGORIES[category]}, a warning` : CATEGORIES[category];
    return { title, reason: found.reason, command: found.command };
  });
  await printAs(flags, { v: 1, command, ...verdict }, () =>
    guardLines(allowed, reasons, formatterFor(flags), process.stdout.columns),
  );
  return allowed ? 0 : 1;
}
