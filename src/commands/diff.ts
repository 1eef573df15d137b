import { interactive } from "../process/run.js";
import { changesOf } from "../run/changes.js";
import { wholeNumber } from "../settings/limits.js";
import { plural } from "../views/figures.js";
import { quietEnvironment } from "../workspace/git.js";
import { loopMeant, nameOf, runHere } from "./find.js";
import { failure, note, type PrintFlags, printAll } from "./output.js";

/** The project's settings start no program to show a change. */
const SAFELY = ["--no-ext-diff", "--no-textconv", "--find-renames"];

/** `ralph diff [RUN]`: what a run changed, or one of its iterations. */
export async function diff(
  name: string | undefined,
  { stat, iteration, color }: PrintFlags & { stat?: boolean; iteration?: string },
): Promise<number> {
  const wanted = iteration === undefined ? undefined : wholeNumber("--iteration", iteration, 1);
  const found = loopMeant(name, "latest");
  const changes = await changesOf(runHere(found), { iteration: wanted });
  if (typeof changes === "string")
    throw failure("no_diff", changes, "ralph report shows what ralph knows about the run");
  const which = wanted === undefined ? nameOf(found) : `iteration ${wanted} of ${nameOf(found)}`;
  const args = ["diff", ...SAFELY, ...(stat ? ["--stat"] : [])];
  if (changes.unknown.length > 0)
    note(`${plural(changes.unknown.length, "file")} not shown: too many to be recorded`);
  const isEmpty = changes.from === changes.to || (await changes.diff(["diff", "--quiet"])).exitCode === 0;
  if (isEmpty) return note(`${which} changed no file`);
  if (!process.stdout.isTTY || process.env["TERM"] === "dumb") {
    const { stdout } = await changes.diff([...args, "--no-color"]);
    return printAll(stdout);
  }
  // git pages it, with the user's own pager.
  const { args: words, env } = changes.words([...args, ...(color === false ? ["--no-color"] : [])]);
  const command = {
    file: "git",
    args: words,
    cwd: changes.repository,
    env: { ...quietEnvironment(), ...env },
  };
  return (await interactive(command)).exitCode ?? 1;
}
