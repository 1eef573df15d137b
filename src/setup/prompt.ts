import { existsSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../workspace/git.js";
import { testCommand } from "../workspace/project.js";

/** What a project may hold that says what is to be done, in the order in which it is read. */
const NOTES = ["README.md", "AGENTS.md", "CLAUDE.md", "specs/README.md"];
const PLAN = "IMPLEMENTATION_PLAN.md";

/** The prompt of `ralph init --prompt`. It names only files that are there, and says how the run ends. */
export function firstPrompt(workspace: string, response: string): string {
  const isThere = (name: string): boolean => existsSync(join(workspace, name));
  const notes = NOTES.filter(isThere);
  const tests = testCommand(workspace);
  const state =
    repositoryRoot(workspace) !== undefined
      ? "read the last commits to see what is done"
      : "look at what is done";
  return `study ${notes.length === 0 ? "this project" : notes.join(", ")}
${state}, then pick the most important incomplete task

IMPORTANT:

- do not assume anything is implemented - verify by reading code
- do that one task alone
${isThere(PLAN) ? `- update ${PLAN} when the task is done\n` : ""}\
- if tests are missing, add them (choose unit/integration/property as appropriate, follow existing patterns)
- run ${tests === undefined ? "the tests" : `\`${tests}\``} after changes
- commit when the task is done, and say in the message what is left; do not push

When no task is left and the tests pass, end your final message with this line, and not before:

<response>${response}</response>
`;
}
