import { CATEGORIES, type GuardFinding } from "../guard/finding.js";
import { type Site, siteAt } from "../guard/site.js";
import { judgeToolUse } from "../guard/tool-use.js";
import { ralphHome, userHome } from "../records/ralph-home.cjs";
import { answerHook } from "./answer.cjs";
import type { Hook, HookAnswer, HookInput } from "./hook.cjs";
import { deny, isObject, parseObject, readInput } from "./hook.cjs";

/** All of `ralph hook pre-tool-use`; the build makes one file of this module and of everything that it needs. */
export function answerGuard(): Promise<boolean> {
  return answerHook("pre-tool-use", preToolUse);
}

/** Before a tool: what the guard refuses is not done, and the agent hears why. */
export const preToolUse: Hook = async (input, { env }) => answerAt(input, siteOf(input.cwd, env));

/** The same for a run: the project and its exceptions are those of its start, whatever the agent makes of them. */
export function guardOf(project: string, env: NodeJS.ProcessEnv): (input: HookInput) => HookAnswer {
  const { workspace, allowed } = siteOf(project, env);
  return (input) => answerAt(input, { ...siteOf(input.cwd, env), workspace, allowed });
}

/** Where a command would run, for a user with these variables. */
export function siteOf(folder = process.cwd(), env: NodeJS.ProcessEnv): Site {
  return siteAt(folder, { home: userHome(env), ralphHome: ralphHome(env) });
}

function answerAt({ sent }: HookInput, site: Site): HookAnswer {
  const { tool_name: tool, tool_input: given } = sent;
  // Some agents send the input of a tool as JSON in a text, or a bare command.
  const inside = typeof given === "string" ? parseObject(given) : undefined;
  const input = isObject(given) ? given : (inside ?? { command: given });
  const { refusals, warnings } = judgeToolUse({ tool: typeof tool === "string" ? tool : "", input }, site);
  if (refusals.length > 0)
    return deny(
      `Refused by ralph's guard: ${listed(refusals)}. Find another way that stays inside the project, or say what a person has to do.`,
    );
  // The user is warned; the call goes on.
  return warnings.length === 0 ? undefined : { systemMessage: `ralph's guard warns: ${listed(warnings)}` };
}

/** The first three. */
function listed(findings: GuardFinding[]): string {
  const lines = findings.slice(0, 3).map(({ category, reason, command }) => {
    const about = command === "" ? "" : ` (${command})`;
    return `${CATEGORIES[category]}: ${reason}${about}`;
  });
  return lines.join("; ");
}

/** Judges what most calls look like, so that what V8 compiled for them can be kept. */
export function tryOut(): void {
  const site = { ...siteOf("/", process.env), allowed: { exceptions: [], ignored: [] } };
  for (const command of TYPICAL) {
    const input = readInput(JSON.stringify({ tool_name: "Bash", tool_input: { command } }));
    if (input !== undefined) answerAt(input, site);
  }
}

/** More of them would make what is kept larger, and so slower to load for all the others. */
const TYPICAL = [
  "cd src && npm run build && npm test -- --run 2>&1 | tail -n 20",
  'git add -A && git commit -m "Add it" && echo "$(date)" > out.txt',
];
