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
  args: { task: "what to do (-: read it from stdin; put a text that begins with - after --)" },
  flags: [
    ...TEXT_FLAGS,
    ...CHECKS,
    flag("--attempts <n>", "give each agent this many lanes (default: 1)"),
    flag("--all", "let every lane finish; the one with the fewest changed lines wins"),
    flag("--completion-tag <tag>", "word that the agent says when it is done (default: COMPLETE)"),
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
    `Each lane is a ralph loop in its own worktree. The limits apply to all lanes
together. The result is the branch of the winner; the other branches stay until you
remove them.`,
    'ralph race "Make the tests pass" --check "npm test" --agent claude --agent codex',
    'ralph race "Speed up the parser" --check "npm test" --attempts 3 --all --max-cost 10',
  ],
  run: async (task, flags) => (await import("../commands/lanes.js")).race(task, flags),
});
