import { resolve } from "node:path";
import { RalphError } from "../errors.js";
import { readAnyText } from "../recipes/prompt.js";
import { ralphHome } from "../records/home.js";
import { handleSignals } from "../run/signals.js";
import { asFlag, flagWords } from "../settings/limits.js";
import { nearest } from "../words.js";
import { spawnWorker, type WorkerFlags } from "../workers/spawn.js";
import { failure, say } from "./output.js";
import { readStdin } from "./task-text.js";

/** Flags that are not named here go to the recipe of a prompt file as they were given. */
type SpawnFlags = Partial<WorkerFlags> & {
  ralph?: boolean;
  worktree?: string | boolean;
  promptFile?: string;
  maxIterations?: string;
  [flag: string]: unknown;
};

/** `ralph spawn`: starts a loop in a window of tmux and leaves it there. */
export async function spawn(words: string[], flags: SpawnFlags, loops: string[][]): Promise<number> {
  const { name } = flags;
  if (name === undefined) throw failure("worker_name", "a worker needs a name", "--name NAME");
  // Words after -- are a command, even if it has the name of a loop.
  const isCommand = words.length === 0 || process.argv.at(-words.length - 1) === "--";
  const argv = isCommand ? repeatCommand(words, flags, name) : recipeCommand(words, flags, name, loops);
  const stdin = !isCommand && words.some((word) => TAKES_STDIN.test(word)) ? await readStdin() : undefined;
  const hear = (text: string): void => void process.stderr.write(text);
  const { signals, release } = handleSignals(() => {});
  try {
    const spawned = await spawnWorker(ralphHome(), { ...flags, name, stdin }, argv, {
      hear,
      signal: signals.stop,
    });
    if (typeof spawned === "number") return spawned;
    const { session, iteration, maxIterations } = spawned;
    const at = `tmux: ${session}:${name}`;
    return say(`spawned ${name} (${at}) [ralph mode: iteration ${iteration}/${maxIterations}]`);
  } finally {
    release();
  }
}

/** `loop -`, `run -f -`, `run --prompt-file=-`: the window has another stdin. */
const TAKES_STDIN = /^(-|-[fp]-|--(prompt|prompt-file|spec)=-)$/;

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
  const flag = asFlag(misplaced);
  const hint = `it is a flag of ralph ${recipe}: ralph spawn --name ${name} ${recipe} … ${flag} …`;
  throw failure("flag_invalid", `${flag} stands before ${recipe}`, hint);
}

function recipeIn(words: string[], loops: string[][]): string[] {
  const [first = ""] = words;
  const command = loops.find(([known]) => known === first);
  if (command?.every((word, at) => words[at] === word)) return command;
  const known = loops.map((recipe) => recipe.join(" ")).join(", ");
  const names = loops.map(([name = ""]) => name);
  const meant = command?.join(" ") ?? nearest(first, names);
  const guess = meant === undefined ? "" : `did you mean ${meant}? `;
  const hint = `${guess}Loops are ${known}; a command goes after --`;
  throw failure("flag_invalid", `${words.slice(0, command?.length ?? 1).join(" ")} is not a loop`, hint);
}

/** The seed's form: a prompt file and a command. */
function repeatCommand(words: string[], flags: SpawnFlags, name: string): string[] {
  for (const [flag, value] of [
    ["--prompt-file", flags.promptFile],
    ["--max-iterations", flags.maxIterations],
  ]) {
    if (value !== undefined) continue;
    const message = flags.ralph === true ? `--ralph requires ${flag}` : `${flag} is required`;
    throw failure("flag_missing", message, NEEDS, 1);
  }
  if (flags.promptFile === "-")
    throw failure(
      "flag_invalid",
      "--prompt-file -: ralph reads this file before each iteration, and stdin only once",
      `ralph spawn --name ${name} run - … takes the prompt from stdin`,
    );
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
  "a worker needs --prompt-file and --max-iterations, or a loop: run, loop, stories run, pipeline run";

/** Resolves a file from the user's folder, even if the worker works elsewhere. */
function presentFile(given: string): string {
  try {
    readAnyText("prompt file", given, process.cwd());
    return resolve(given);
  } catch (error) {
    if (!(error instanceof RalphError)) throw error;
    throw failure(error.code, error.message, undefined, 1);
  }
}

/** `--worktree` without a name gets the worker's name. */
function worktreeWords({ worktree }: SpawnFlags, name: string): string[] {
  if (worktree === undefined) return [];
  return ["--worktree", typeof worktree === "string" && worktree !== "" ? worktree : name];
}
