import { text as readAll } from "node:stream/consumers";
import { ALLOWED_FILE } from "../guard/allowed-commands.js";
import { judgeCommand } from "../guard/guard.js";
import { siteOf } from "../hooks/guard-call.js";
import { guardLines } from "../views/findings.js";
import { failure, formatterFor, note, type PrintFlags, printAs } from "./output.js";

/** `ralph guard`: whether the guard allows a command, and why. Runs nothing. */
export async function guard(given: string, flags: PrintFlags): Promise<number> {
  const command = given === "-" ? await readAll(process.stdin) : given;
  if (command.trim() === "")
    throw failure(
      "guard_empty",
      given === "-" ? "stdin is empty" : "the command is empty",
      'for example: ralph guard "rm -rf build"',
    );
  const site = siteOf(process.cwd(), process.env);
  for (const { line, why } of site.allowed.ignored)
    note(`${ALLOWED_FILE}${line === 0 ? "" : `:${line}`} is not taken: ${why}`);
  const verdict = judgeCommand(command, site);
  const lines = () => guardLines(verdict, formatterFor(flags), process.stdout.columns);
  return printAs(flags, { v: 1, command, ...verdict }, lines, verdict.allowed ? 0 : 1);
}
