import { CATEGORIES, type Finding } from "../guard/finding.js";
import { type Place, placeAt } from "../guard/place.js";
import { judgeToolUse } from "../guard/tool-use.js";
import { ralphHome, userHome } from "../records/ralph-home.cjs";
import { deny, type Hook, type HookAnswer, type HookInput, isObject, readInput } from "./hook.cjs";

/** Before a tool: what the guard refuses is not done, and the agent hears why. */
export const preToolUse: Hook = async (input, { env }) => answerAt(input, placeOf(folderOf(input), env));

/** The same for a run: the project and its exceptions are those of its start, whatever the agent makes of them. */
export function guardOf(project: string, env: NodeJS.ProcessEnv): (input: HookInput) => HookAnswer {
  const { workspace, allowed } = placeOf(project, env);
  return (input) => answerAt(input, { ...placeOf(folderOf(input), env), workspace, allowed });
}

/** Where a command would run, for a user with these variables. */
export function placeOf(folder: string, env: NodeJS.ProcessEnv): Place {
  return placeAt(folder, { home: userHome(env), ralphHome: ralphHome(env) });
}

function folderOf({ cwd }: HookInput): string {
  return cwd ?? process.cwd();
}

/** The user is told of warnings; the call goes on. */
export function answerAt({ sent }: HookInput, place: Place): HookAnswer {
  const tool = typeof sent["tool_name"] === "string" ? sent["tool_name"] : "";
  const input = inputOf(sent["tool_input"]);
  const { refusals, warnings } = judgeToolUse({ tool, input }, place);
  if (refusals.length > 0) return denied(refusals);
  return warnings.length === 0 ? undefined : { systemMessage: `ralph's guard warns: ${told(warnings)}` };
}

/** Some agents send the input of a tool as JSON in a text, or a bare command. */
function inputOf(given: unknown): Record<string, unknown> {
  if (isObject(given)) return given;
  const inside = typeof given === "string" ? readInput(given)?.sent : undefined;
  return inside ?? { command: given };
}

function denied(refusals: Finding[]): HookAnswer {
  const reason = `Refused by ralph's guard: ${told(refusals)}. Find another way that stays inside the project, or say what a person has to do.`;
  return deny(reason);
}

function told(findings: Finding[]): string {
  const lines = findings.slice(0, MOST_TOLD).map(({ category, reason, command }) => {
    const about = command === "" ? "" : ` (${command})`;
    return `${CATEGORIES[category]}: ${reason}${about}`;
  });
  return lines.join("; ");
}

const MOST_TOLD = 3;
