import { rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { givenValue } from "../agents/flags.js";
import type { LoopHook, LoopHooks } from "../agents/hooks.js";
import type { AgentSetup } from "../ask/run-agent.js";
import { windowOf } from "../hooks/alerts.cjs";
import { TOKEN_VARIABLE } from "../hooks/hook.cjs";
import { EVENTS, type LoopHookName, loopAnswers } from "../hooks/loop-answers.js";
import { type Answers, startHookServer } from "../hooks/server.js";
import type { Recipe } from "../recipes/recipe.js";
import { readAgentSettings } from "./agent-settings.js";

export interface RunHooks {
  wiring: LoopHooks;
  /** An agent is called. */
  beginCall(): void;
  close(): void;
}

/** Long enough for `git status` in a large repository; an agent goes on when its hook does not answer. */
const TIMEOUT_SECONDS = 60;

/**
 * Answers the agent's hooks as long as the run lasts. undefined where nobody can listen, and where the settings
 * that the user gave to the agent cannot be read: then they are the agent's alone.
 */
export async function startHooks(
  setup: AgentSetup,
  recipe: Recipe,
  { token, folder }: { token: string; folder: string },
): Promise<RunHooks | undefined> {
  const settings = settingsOf(setup, folder);
  if (settings === "unreadable") return undefined;
  const { answers, beginCall } = loopAnswers({
    mayStop: recipe.mayStop?.bind(recipe),
    window: windowOf(setup.env),
    keepsStories: recipe.name === "stories",
  });
  const server = await startHookServer(token, answers);
  if (server === undefined) return undefined;
  return {
    wiring: {
      hooks: hooksAt(server.url, answers),
      token: { variable: TOKEN_VARIABLE, value: token },
      settings,
    },
    beginCall,
    close() {
      server.close();
      // What the user gave to the agent may hold secrets.
      if (settings !== undefined) rmSync(settings.file, { force: true });
    },
  };
}

/** The settings that the user gave to the agent, which the hooks become a part of. */
function settingsOf(
  { agent, words, flags, workspace }: AgentSetup,
  folder: string,
): LoopHooks["settings"] | "unreadable" {
  const flag = agent.hooks?.settingsFlag;
  const given = flag === undefined ? undefined : givenValue([...words, ...flags], [flag]);
  if (given === undefined) return undefined;
  const content = readAgentSettings(given, workspace);
  return content === undefined ? "unreadable" : { content, file: join(folder, "agent-settings.json") };
}

const PROGRAM = fileURLToPath(new URL("../../bin/ralph.js", import.meta.url));

function hooksAt(server: string, answers: Answers<LoopHookName>): LoopHook[] {
  return (Object.keys(answers) as LoopHookName[]).map((name) => {
    const url = `${server}${name}`;
    const command = [process.execPath, PROGRAM, "hook", name, "--loop", url];
    return { event: EVENTS[name], url, command, timeoutSeconds: TIMEOUT_SECONDS };
  });
}
