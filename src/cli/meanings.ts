import { quoteWord } from "../words.js";

/** Words that other tools use for a command, and the command here. */
const MEANINGS: Record<string, string> = {
  "stop halt end quit exit suspend hold":
    "ralph pause lets the agent finish and then waits, ralph kill ends the run now",
  "abort cancel terminate": "ralph kill ends the run now, ralph pause lets the agent finish first",
  "continue proceed unpause restart retry rerun": "ralph resume continues a run",
  "history recent": "ralph runs lists the runs",
  list: "ralph ls lists what is running and the workers, ralph runs lists all runs",
  "ps top jobs workers": "ralph ls lists what is running, ralph watch shows it live",
  "monitor live tui": "ralph watch shows all runs live",
  "dashboard open web browser gui":
    "ralph ui shows all runs in a browser, ralph watch shows them in the terminal",
  "cost spend spending price usage budget":
    "ralph costs shows what the agents cost, ralph runs the cost of each run, --max-cost limits a run",
  "summary result results show view info inspect stats":
    "ralph report shows the result of a run, ralph status how it is doing",
  "log tail output follow": "ralph logs shows what a run printed, ralph logs --follow shows it live",
  "start begin go do exec execute task prompt":
    'ralph run "TEXT" starts a run here, ralph spawn starts one in the background',
  "background bg detach daemon": "ralph spawn starts a run in a window of tmux",
  "delete remove rm purge forget prune cleanup":
    "ralph clean forgets workers that have ended, ralph clean --worktrees removes worktrees that are landed",
  "changes files patch": "ralph diff shows what a run changed, ralph diff --stat only which files",
  "merge apply integrate accept": "ralph land brings the work of a run into your branch",
  "update upgrade": "npm install -g ralph-loop@latest updates ralph",
  "reply respond": 'ralph answer "TEXT" answers the question of a run',
  "ask question questions": 'ralph status shows the question of a run, ralph answer "TEXT" answers it',
  "tell say message msg instruct": 'ralph steer "TEXT" adds a text to the next prompt',
  "check checks test tests": "ralph loop TASK --check CMD works until the check passes",
  "setup new create configure": "ralph init creates the settings of this project",
  "settings set get": "ralph config shows and changes the settings",
  "health diagnose agents login auth": "ralph doctor says what works here and what to do",
  "worktree branch": 'ralph run "TEXT" --worktree works in a git worktree, ralph worktrees lists them',
  "story plan prd add": "ralph stories works on a list of stories",
  "spec prp": "ralph pipeline run FILE goes from a spec to working code",
  "undo reset revert rollback": "git undoes what a run changed: ralph never rewrites your commits",
  "example examples tutorial try": "ralph demo shows a run on a small project",
  version: "ralph --version prints it",
};

/** Those for the commands of `ralph stories` and `ralph pipeline`. */
export const SYNONYMS: Record<string, string[]> = {
  resume: ["continue", "proceed", "retry"],
  run: ["start", "go", "loop", "continue"],
  status: ["list", "ls", "show", "view", "progress", "report"],
  init: ["new", "create", "setup"],
  verify: ["check", "test"],
  add: ["story", "append"],
};

/** The command that an unknown word means; undefined: none. */
export function meaningOf(word: string): string | undefined {
  if (/\s/.test(word.trim())) return `did you mean: ralph run ${quoteWord(word)}`;
  return Object.entries(MEANINGS).find(([words]) => words.split(" ").includes(word.toLowerCase()))?.[1];
}
