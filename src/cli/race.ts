import { row } from "./build.js";
import {
  agentFlags,
  CHECKS,
  CONFIG,
  flag,
  ISSUE,
  many,
  NO_DONE_INSTRUCTION,
  startFlags,
  TEXT_FLAGS,
} from "./flags.js";

export const race = row("race [task]", "give one task to several agents; the first whose checks pass wins", {
  args: { task: "what to do (-: read it from stdin; one that begins with - goes behind --)" },
  flags: [
    ...TEXT_FLAGS,
    ...CHECKS,
    flag("--attempts <n>", "let each agent try this often, at the same time (default: 1)"),
    flag("--all", "let every lane finish; of those that pass, the one that changed the fewest lines wins"),
    flag("--completion-tag <tag>", "word with which the agent says that it is done (default: COMPLETE)"),
    flag("--no-completion-tag", "let the checks alone decide"),
    NO_DONE_INSTRUCTION,
    ...ISSUE,
    CONFIG,
    ...startFlags({ maxIterations: "25" }, [
      { ...many("--agent <name>", "an agent of the race (repeatable)"), group: "Agent:" },
      ...agentFlags().slice(1),
    ]),
  ],
  help: [
    `Each lane is a ralph loop in a worktree of its own. The limits are for all lanes
together. The result is the branch of the winner; the others stay until you remove
them.`,
    'ralph race "Make the tests pass" --check "npm test" --agent claude --agent codex',
    'ralph race "Speed up the parser" --check "npm test" --attempts 3 --all --max-cost 10',
  ],
  run: async (task, flags) => (await import("../commands/lanes.js")).race(task, flags),
});
