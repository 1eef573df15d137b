import { accessSync, constants, readdirSync, readlinkSync, renameSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { describeSystemError, orElse, RalphError } from "../errors.js";
import { isMade, makePrivateFolder } from "./files.js";
import { ralphHome } from "./ralph-home.cjs";

export { ralphHome };

/** Ralph's home, ready to be written to. */
export function writableHome(home = ralphHome()): string {
  try {
    makePrivateFolder(home);
    for (const { name } of readdirSync(home, { withFileTypes: true }).filter((entry) => entry.isDirectory()))
      makePrivateFolder(join(home, name));
    accessSync(home, constants.W_OK);
    return home;
  } catch (error) {
    throw unwritableHome(home, error);
  }
}

/** Folder for named pipes. It is hidden in sandboxes: a pipe is written where no file can be. */
export function pipesFolder(home: string): string {
  const folder = join(home, "pipes");
  makePrivateFolder(folder);
  return folder;
}

/** What hidden checks printed, by run. Sandboxes hide it, and the next run in the project takes it away. */
export function hiddenFolder(home: string, run = ""): string {
  return join(home, "hidden", run);
}

export function unwritableHome(home: string, cause: unknown): RalphError {
  return new RalphError(`cannot keep records in ${home}: ${describeSystemError(cause)}`, {
    code: "home_unwritable",
    hint: "make it writable or set RALPH_HOME to another folder",
    cause,
  });
}

/** Short names of runs: `$RALPH_HOME/names/<name>` is a link to the folder of the run that has the name now. */

/** Wherever an id or a name is asked, this is the latest run. */
export const LAST = "last";

export const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/** A name is a folder, a window of tmux and, with `--worktree`, a branch: it has to suit all three. */
export function checkName(name: string): string {
  if (name === LAST)
    throw new RalphError(`--name ${LAST} is taken`, {
      code: "name_invalid",
      hint: `${LAST} means the latest run; choose another name`,
    });
  if (NAME.test(name)) return name;
  throw new RalphError(`--name ${JSON.stringify(name)} is not a valid name`, {
    code: "name_invalid",
    hint: "letters, digits, - and _, at most 64, the first one a letter or a digit",
  });
}

/** The id of the run that has this name. */
export function runNamed(home: string, name: string): string | undefined {
  if (!NAME.test(name)) return undefined;
  return orElse(() => basename(readlinkSync(join(home, "names", name))), undefined);
}

/** Gives a run the name that its user chose, else two words that no other run has. */
export function claimName(home: string, run: string, chosen: string | undefined): string {
  const folder = join(home, "names");
  makePrivateFolder(folder);
  if (chosen !== undefined) {
    const link = join(folder, `.${run}`);
    symlinkSync(`../runs/${run}`, link);
    renameSync(link, join(folder, chosen));
    return chosen;
  }
  for (let tries = 0; ; tries += 1) {
    const name = tries < PAIRS_TRIED ? twoWords() : `${twoWords()}-${tries}`;
    if (isMade(() => symlinkSync(`../runs/${run}`, join(folder, name)))) return name;
  }
}

/** So many pairs of words are tried before a number is added to one. */
const PAIRS_TRIED = 30;

function twoWords(): string {
  const [first, second] = [FIRST, SECOND].map((words) => words[Math.floor(Math.random() * words.length)]);
  return `${first}-${second}`;
}

const FIRST = `able agile amber apt azure bold brave brief bright brisk calm clean clear clever cool coral
crisp deft eager early easy even fair fast fine firm fleet fond fresh gentle glad gold good grand great green
happy hardy jolly keen kind light lively loyal lucid lucky mellow merry mild mint neat new nimble noble olive
plain polite prime proud pure quick quiet rapid ready rosy round royal sharp shiny silent silver simple sleek
smart smooth snug sober soft solid spry stable steady still sunny sure swift tidy tough trim true vivid warm
wise witty young`.split(/\s+/);

const SECOND = `acorn aspen badger bass bear beaver birch bison brook canyon cedar cheetah cliff clover comet
condor cove crane creek cricket crow daisy deer delta dove dune eagle elk elm falcon fern finch fir fox
gecko goose grove gull hare harbor hawk hazel heron hill ibex iris island ivy jay kestrel koala lake lark leaf
lemur lily linden lion lotus lynx maple marten meadow mole moose moss newt oak orca oriole osprey otter owl
panda pebble pine plover pond poplar puffin quail rabbit raven reef ridge river robin rowan seal shore sparrow
spruce stone stork swan tern thrush tiger toad trout tulip valley violet vole walrus willow wolf wren
yak`.split(/\s+/);
