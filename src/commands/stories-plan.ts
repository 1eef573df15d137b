import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Agent, partsOf } from "../agents/agent.js";
import { agentFor } from "../agents/index.js";
import { describeSystemError } from "../errors.js";
import { inPackage } from "../package-folder.cjs";
import { interactive } from "../process/run.js";
import { existingStories, type FolderFlags, type StoriesFolder } from "../recipes/stories/folder.js";
import { checkTasks } from "../recipes/stories/rules.js";
import { reviewRules, storyFiles } from "../recipes/stories/state.js";
import { agentEnvironment, resolveAgent } from "../run/agent-spec.js";
import type { AgentSpec } from "../run/spec.js";
import { loadSettings } from "../settings/load.js";
import type { Settings } from "../settings/schema.js";
import { plural } from "../views/figures.js";
import { textAt } from "../workspace/content.js";
import { withoutCredentials } from "../workspace/credentials.js";
import { failure, note, requireTerminal } from "./output.js";
import type { StartFlags } from "./start-run.js";

const SKILL = inPackage("plugin/skills/ralph-plan/SKILL.md");

/** `ralph stories plan`: the user's agent asks questions and writes prd.md and tasks.json. */
export async function plan(
  flags: FolderFlags & Pick<StartFlags, "agent" | "model" | "agentFlag" | "config">,
): Promise<number> {
  const folder = existingStories(flags);
  requireTerminal("ralph stories plan");
  const { settings } = await loadSettings(folder.project, flags.config);
  const choice = { agent: flags.agent, model: flags.model, agentFlags: flags.agentFlag ?? [] };
  // Nothing is done unattended here: the user is there to be asked.
  const attended = { ...settings, agent: { ...settings.agent, permissions: "ask" as const } };
  const spec = await resolveAgent(choice, attended, folder.project, process.env);
  const agent = await agentFor(spec.words[0] ?? "");
  if (agent.firstMessage === undefined) note(`tell ${spec.name}: Read ${SKILL} and follow it.`);
  const [file = "", ...args] = conversation(agent, spec, message(folder));
  const own = agentEnvironment(spec, settings);
  const nowhere = join(folder.project, ".ralph", "no-login");
  const env = { ...withoutCredentials(process.env, nowhere, Object.keys(own)), ...own };
  const { exitCode, spawnError } = await interactive({ file, args, cwd: folder.project, env });
  if (spawnError !== undefined)
    throw failure("agent_not_started", `cannot start ${file}: ${describeSystemError(spawnError)}`);
  sayWhatIsThere(folder, settings);
  return exitCode === 0 ? 0 : 1;
}

function conversation(agent: Agent, { words, flags, model }: AgentSpec, message: string): string[] {
  const all = [...words, ...flags];
  if (all.some((word) => word.includes("{prompt}")))
    return all.map((word) => word.replaceAll("{prompt}", () => message));
  return [...all, ...partsOf({ words, flags, model }).modelFlag, ...(agent.firstMessage?.(message) ?? [])];
}

/** The skill without its front matter, which is for agents that list skills. */
function message({ dir }: StoriesFolder): string {
  const skill = readFileSync(SKILL, "utf8").replace(/^---\n[\s\S]*?\n---\n/, "");
  return `${skill.trim()}\n\nThe files are in ${dir}/ of this project. Begin now.`;
}

function sayWhatIsThere({ project, dir }: StoriesFolder, settings: Settings): void {
  const name = storyFiles(dir).tasks;
  if (!existsSync(join(project, name))) return;
  const { rules } = reviewRules({}, settings);
  const { tasks, findings } = checkTasks(textAt(join(project, name)), { ...rules, name, isPersons: true });
  const count = plural(tasks?.userStories.length ?? 0, "story is", "stories are");
  if (findings.length === 0) note(`${count} planned. Next: commit, then ralph stories run`);
  else note(`${name} is not ready yet. ralph stories verify lists what is missing`);
}
