import { type Site, siteAt } from "../guard/allowed-commands.js";
import { CATEGORIES, type GuardFinding } from "../guard/finding.js";
import { judgeToolUse } from "../guard/tool-use.js";
import { ralphHome, userHome } from "../records/ralph-home.cjs";
import { answerHook } from "./answer.cjs";
import type { Hook, HookAnswer, HookInput } from "./hook.cjs";
import { deny, isObject, parseObject, readInput } from "./hook.cjs";

/** All of `ralph hook pre-tool-use`; the build makes one file of this module and all that it imports. */
export function answerGuard(): Promise<boolean> {
  return answerHook("pre-tool-use", preToolUse);
}

/** Before a tool call: the guard stops what it refuses, and tells the agent why. */
export const preToolUse: Hook = async (input, { env }) => answerAt(input, siteOf(input.cwd, env));

/** The same for a run: with the project and the exceptions of its start, whatever the agent changes. */
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
  // Some agents send the input of a tool as a JSON string, or as a bare command.
  const inside = typeof given === "string" ? parseObject(given) : undefined;
  const input = isObject(given) ? given : (inside ?? { command: given });
  const { refusals, warnings } = judgeToolUse({ tool: typeof tool === "string" ? tool : "", input }, site);
  if (refusals.length > 0)
    return deny(
      `Refused by ralph's guard: ${listed(refusals)}. Find another way that stays inside the project, or say what a person has to do.`,
    );
  // Warn the user; let the call proceed.
  return warnings.length === 0 ? undefined : { systemMessage: `ralph's guard warns: ${listed(warnings)}` };
}

function listed(findings: GuardFinding[]): string {
  const lines = findings.slice(0, 3).map(({ category, reason, command }) => {
    const about = command === "" ? "" : ` (${command})`;
    return `${CATEGORIES[category]}: ${reason}${about}`;
  });
  return lines.join("; ");
}

/** Judges typical calls, so that the code that V8 compiles for them can be stored. */
export function tryOut(): void {
  const site = { ...siteOf("/", process.env), allowed: { exceptions: [], ignored: [] } };
  for (const command of TYPICAL) {
    const input = readInput(JSON.stringify({ tool_name: "Bash", tool_input: { command } }));
    if (input !== undefined) answerAt(input, site);
  }
}

/** More entries would enlarge the stored code, and slow down every other call. */
const TYPICAL = [
  "cd src && npm run build && npm test -- --run 2>&1 | tail -n 20",
  'git add -A && git commit -m "Add it" && echo "$(date)" > out.txt',
];
