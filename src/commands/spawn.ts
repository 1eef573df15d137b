import { resolve } from "node:path";
import { RalphError } from "../errors.js";
import { nearest } from "../nearest.js";
import { readAnyText } from "../recipes/text-file.js";
import { ralphHome } from "../records/home.js";
import { handleSignals } from "../run/signals.js";
import { asFlag, flagWords } from "../settings/limits.js";
import { spawnWorker, type WorkerFlags } from "../workers/spawn.js";

/** What `ralph spawn` hands to the recipe of a prompt file, as it was given. */
interface RepeatFlags {
  promptFile?: string;
  maxIterations?: string;
  [flag: string]: unknown;
}

export type SpawnFlags = Partial<WorkerFlags> &
  RepeatFlags & { ralph?: boolean; worktree?: string | boolean };

/** `ralph spawn`: starts a loop in a window of tmux and leaves it there. */
export async function spawn(words: string[], flags: SpawnFlags, loops: string[][]): Promise<number> {
  const name = nameFrom(flags);
  const isCommand = words.length === 0 || isBehindDashes(words);
  const argv = isCommand ? repeatCommand(words, flags, name) : recipeCommand(words, flags, name, loops);
  const hear = (text: string): void => void process.stderr.write(text);
  const { signals, release } = handleSignals(() => {});
  try {
    const spawned = await spawnWorker(ralphHome(), { ...flags, name }, argv, { hear, signal: signals.stop });
    if (typeof spawned === "number") return spawned;
    const { session, iteration, maxIterations } = spawned;
    const at = `tmux: ${session}:${name}`;
    process.stdout.write(`spawned ${name} (${at}) [ralph mode: iteration ${iteration}/${maxIterations}]\n`);
    return 0;
  } finally {
    release();
  }
}

function nameFrom({ name }: SpawnFlags): string {
  if (name !== undefined) return name;
  throw new RalphError("a worker needs a name", { code: "worker_name", hint: "--name NAME" });
}

/** There stands a command, whatever it is called. */
function isBehindDashes(words: string[]): boolean {
  return process.argv.at(-words.length - 1) === "--";
}

/** Flags that belong to the worker and not to its loop. */
const OF_THE_WORKER = ["name", "tag", "env", "cwd", "session", "tmuxSocket", "ralph", "worktree"];

/** `spawn --name auth loop "add JWT" --check "npm test"`. */
function recipeCommand(words: string[], flags: SpawnFlags, name: string, loops: string[][]): string[] {
  const command = recipeIn(words, loops);
  const recipe = command.join(" ");
  const misplaced = Object.keys(flags).find((flag) => ![...OF_THE_WORKER, "sandbox"].includes(flag));
  const sandbox = flags["sandbox"] === undefined ? [] : flagWords("sandbox", flags["sandbox"] || true);
  if (misplaced === undefined)
    return [...command, ...worktreeWords(flags, name), ...words.slice(command.length), ...sandbox];
  throw new RalphError(`${asFlag(misplaced)} stands before ${recipe}`, {
    code: "flag_invalid",
    hint: `it is a flag of ralph ${recipe}: ralph spawn --name ${name} ${recipe} … ${asFlag(misplaced)} …`,
  });
}

function recipeIn(words: string[], loops: string[][]): string[] {
  const [first = ""] = words;
  const command = loops.find(([known]) => known === first);
  if (command?.every((word, at) => words[at] === word)) return command;
  const known = loops.map((recipe) => recipe.join(" "));
  const names = loops.map(([name = ""]) => name);
  const meant = command?.join(" ") ?? nearest(first, names);
  throw new RalphError(`${words.slice(0, command?.length ?? 1).join(" ")} is no loop`, {
    code: "flag_invalid",
    hint: `${meant === undefined ? "" : `did you mean ${meant}? `}Loops are ${known.join(", ")}; a command stands behind --`,
  });
}

/** The seed's form: a prompt file and a command. */
function repeatCommand(words: string[], flags: SpawnFlags, name: string): string[] {
  for (const [flag, value] of [
    ["--prompt-file", flags.promptFile],
    ["--max-iterations", flags.maxIterations],
  ]) {
    if (value !== undefined) continue;
    const message = flags.ralph === true ? `--ralph requires ${flag}` : `${flag} is required`;
    throw new RalphError(message, { code: "flag_missing", exitCode: 1, hint: NEEDS });
  }
  const promptFile = presentFile(flags.promptFile as string);
  const config = flags.config === undefined ? {} : { config: resolve(String(flags.config)) };
  const own = Object.entries({ ...flags, promptFile, ...config }).filter(
    ([flag]) => !OF_THE_WORKER.includes(flag),
  );
  const given = own.flatMap(([flag, value]) => flagWords(flag, value));
  const command = words.length === 0 ? [] : ["--", ...words];
  return ["repeat", ...worktreeWords(flags, name), ...given, ...command];
}

const NEEDS =
  "a worker has a prompt file and a number of iterations, or is a loop: run, loop, stories run, pipeline run";

/** Files are those of the folder that the user stands in, wherever the worker works. */
function presentFile(given: string): string {
  try {
    readAnyText("prompt file", given, process.cwd());
    return resolve(given);
  } catch (error) {
    if (!(error instanceof RalphError)) throw error;
    throw new RalphError(error.message, { code: error.code, exitCode: 1, cause: error });
  }
}

/** `--worktree` alone is called as the worker is. */
function worktreeWords({ worktree }: SpawnFlags, name: string): string[] {
  return worktree === undefined
    ? []
    : ["--worktree", typeof worktree === "string" && worktree !== "" ? worktree : name];
}
