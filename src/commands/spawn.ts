import { RalphError } from "../errors.js";
import { handleSignals } from "../host/signals.js";
import { ralphHome } from "../state/home.js";
import { type Spawned, spawnWorker, type WorkerFlags } from "../workers/spawn.js";

/** What `ralph spawn` hands to the recipe of a prompt file, as it was given. */
interface RepeatFlags {
  promptFile?: string;
  maxIterations?: string;
  [flag: string]: unknown;
}

export type SpawnFlags = Partial<WorkerFlags> &
  RepeatFlags & { ralph?: boolean; worktree?: string | boolean };

/** Commands that can be the loop of a worker as they stand, by their first word. */
const RECIPES: Record<string, string[]> = { run: ["run"], loop: ["loop"], stories: ["stories", "run"] };

/** `ralph spawn`: starts a loop in a window of tmux and leaves it there. */
export async function spawn(given: string[], all: SpawnFlags): Promise<number> {
  const { words, flags } = apart(given, all);
  const name = nameFrom(flags);
  const argv = isRecipe(words) ? recipeCommand(words, flags, name) : repeatCommand(words, flags, name);
  const hear = (text: string): void => void process.stderr.write(text);
  const { signals, release } = handleSignals(() => {});
  try {
    const spawned = await spawnWorker(ralphHome(), { ...flags, name }, argv, { hear, signal: signals.stop });
    if (typeof spawned === "number") return spawned;
    process.stdout.write(`${told(name, spawned)}\n`);
    return 0;
  } finally {
    release();
  }
}

/** `--worktree loop` has no name for the worktree: it is the recipe that follows. So is `--sandbox loop`. */
function apart(words: string[], flags: SpawnFlags): { words: string[]; flags: SpawnFlags } {
  const taken = ["worktree", "sandbox"].find((flag) => Object.hasOwn(RECIPES, String(flags[flag])));
  if (taken === undefined || isRecipe(words)) return { words, flags };
  return { words: [String(flags[taken]), ...words], flags: { ...flags, [taken]: true } };
}

function told(name: string, { session, iteration, maxIterations }: Spawned): string {
  return `spawned ${name} (tmux: ${session}:${name}) [ralph mode: iteration ${iteration}/${maxIterations}]`;
}

function nameFrom({ name }: SpawnFlags): string {
  if (name !== undefined) return name;
  throw new RalphError("a worker needs a name", { code: "worker_name", hint: "--name NAME" });
}

/** Behind `--` stands a command, whatever it is called. */
function isRecipe(words: string[]): boolean {
  const isBehindDashes = process.argv.at(-words.length - 1) === "--";
  return Object.hasOwn(RECIPES, words[0] ?? "") && !isBehindDashes;
}

/** Flags that belong to the worker and not to its loop. */
const OF_THE_WORKER = ["name", "tag", "env", "cwd", "session", "tmuxSocket", "ralph", "worktree"];

/** `spawn --name auth loop "add JWT" --check "npm test"`. */
function recipeCommand(words: string[], flags: SpawnFlags, name: string): string[] {
  const command = RECIPES[words[0] ?? ""] ?? [];
  const recipe = command.join(" ");
  if (words.slice(0, command.length).join(" ") !== recipe) {
    throw new RalphError(`ralph ${words.slice(0, 2).join(" ")} is no loop`, {
      code: "flag_invalid",
      hint: `ralph spawn --name ${name} ${recipe} … is one`,
    });
  }
  const misplaced = Object.keys(flags).find((flag) => ![...OF_THE_WORKER, "sandbox"].includes(flag));
  const sandbox = flags["sandbox"] === undefined ? [] : wordsOf("sandbox", flags["sandbox"]);
  if (misplaced === undefined)
    return [...command, ...worktreeWords(flags, name), ...words.slice(command.length), ...sandbox];
  throw new RalphError(`${asFlag(misplaced)} stands before ${recipe}`, {
    code: "flag_invalid",
    hint: `it is a flag of ralph ${recipe}: ralph spawn --name ${name} ${recipe} … ${asFlag(misplaced)} …`,
  });
}

/** The seed's form: a prompt file and a command. */
function repeatCommand(words: string[], flags: SpawnFlags, name: string): string[] {
  for (const [flag, value] of [
    ["--prompt-file", flags.promptFile],
    ["--max-iterations", flags.maxIterations],
  ]) {
    if (value === undefined)
      throw new RalphError(`--ralph requires ${flag}`, { code: "flag_missing", exitCode: 1 });
  }
  const own = Object.entries(flags).filter(([flag]) => !OF_THE_WORKER.includes(flag));
  const given = own.flatMap(([flag, value]) => wordsOf(flag, value));
  const command = words.length === 0 ? [] : ["--", ...words];
  return ["repeat", ...worktreeWords(flags, name), ...given, ...command];
}

/** `--worktree` alone is called as the worker is. */
function worktreeWords({ worktree }: SpawnFlags, name: string): string[] {
  return worktree === undefined ? [] : ["--worktree", worktree === true ? name : String(worktree)];
}

function wordsOf(flag: string, value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => wordsOf(flag, one));
  if (typeof value === "boolean") return [value ? asFlag(flag) : `--no-${asFlag(flag).slice(2)}`];
  return [`${asFlag(flag)}=${String(value)}`];
}

function asFlag(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
