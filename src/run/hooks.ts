import { readFileSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { givenValue, type LoopHook, type LoopHooks } from "../agents/agent.js";
import type { AgentSetup } from "../ask/run-agent.js";
import { windowOf } from "../hooks/context.cjs";
import { guardOf } from "../hooks/guard-call.js";
import { TOKEN_VARIABLE } from "../hooks/hook.cjs";
import { EVENTS, type LoopHookName, loopAnswers, startHookServer } from "../hooks/server.js";
import type { Recipe } from "../loop/recipe.js";
import { PROGRAM } from "../package-folder.cjs";
import { isTree } from "../settings/merge.js";

export interface RunHooks {
  /** How the hooks of an agent reach the loop; undefined for an agent without hooks. */
  beginCall(setup: AgentSetup): LoopHooks | undefined;
  close(): void;
}

/** Long enough for `git status` in a large repository; an agent goes on when its hook does not answer. */
const TIMEOUT_SECONDS = 60;

/** Answers the hooks of these agents while the run lasts; undefined where no port can be opened. */
export async function startHooks(
  setups: AgentSetup[],
  recipe: Recipe,
  { token, folder }: { token: string; folder: string },
): Promise<RunHooks | undefined> {
  const { answers, beginCall } = loopAnswers({
    mayStop: recipe.mayStop?.bind(recipe),
    guard: guardOf(setups[0]?.workspace ?? process.cwd(), process.env),
    keepsStories: recipe.keepsStories === true,
  });
  const server = await startHookServer(token, answers);
  if (server === undefined) return undefined;
  const hooks = (Object.keys(answers) as LoopHookName[]).map((name): LoopHook => {
    const url = `${server.url}${name}`;
    const command = [process.execPath, PROGRAM, "hook", name, "--loop", url];
    return { event: EVENTS[name], url, command, timeoutSeconds: TIMEOUT_SECONDS };
  });
  const wirings = new Map<AgentSetup, LoopHooks>();
  for (const [index, setup] of setups.entries()) {
    const settings = settingsOf(setup, join(folder, `agent-settings-${index}.json`));
    if (settings === "unreadable") continue;
    const env = { [TOKEN_VARIABLE]: token, ...pastProxies(setup.env) };
    wirings.set(setup, { hooks, tokenVariable: TOKEN_VARIABLE, env, settings });
  }
  return {
    beginCall(setup) {
      beginCall(windowOf(setup.env));
      return wirings.get(setup);
    },
    close() {
      server.close();
      // The settings that users give to their agents may hold secrets.
      for (const { settings } of wirings.values()) if (settings) rmSync(settings.file, { force: true });
    },
  };
}

const MAX_SETTINGS_BYTES = 1024 * 1024;

/** Adds the hooks to the settings that the user gave the agent; unreadable ones go to it as they are. */
function settingsOf(
  { agent, words, flags, workspace }: AgentSetup,
  file: string,
): LoopHooks["settings"] | "unreadable" {
  const flag = agent.hooks?.settingsFlag;
  const given = flag === undefined ? undefined : givenValue([...words, ...flags], [flag]);
  if (given === undefined) return undefined;
  try {
    const path = resolve(workspace, given);
    const isText = given.trimStart().startsWith("{");
    const stat = isText ? undefined : statSync(path);
    if (stat !== undefined && !(stat.isFile() && stat.size <= MAX_SETTINGS_BYTES)) return "unreadable";
    const content: unknown = JSON.parse(isText ? given : readFileSync(path, "utf8"));
    return isTree(content) ? { content, file } : "unreadable";
  } catch {
    return "unreadable";
  }
}

const LOOPBACK = "127.0.0.1";
const PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];

/** Variables that keep requests to this machine away from a proxy, where one is set. */
export function pastProxies(env: NodeJS.ProcessEnv): Record<string, string> {
  const isProxied = PROXIES.some((name) => env[name] || env[name.toLowerCase()]);
  if (!isProxied) return {};
  const direct = [env["NO_PROXY"], env["no_proxy"], LOOPBACK].flatMap((list) => list?.split(",") ?? []);
  const list = [...new Set(direct.map((host) => host.trim()).filter(Boolean))].join(",");
  return { NO_PROXY: list, no_proxy: list };
}
