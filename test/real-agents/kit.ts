import { readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, type TestContext } from "vitest";
import { createProject, eventually, type Project } from "../kit.js";
import type { Turn } from "./model/dialect.js";
import { type Model, startModel } from "./model/model.js";
import { type RealAgent, SETUPS, toNobodyElse } from "./setups.js";

declare module "vitest" {
  interface TaskMeta {
    agent?: string;
    /** What stands in the table of docs/internals/real-agents.md in place of a plain yes. */
    told?: string;
  }
}

/** The agent that this run of the tests is about, and where its program is: `vitest.agents.config.mjs`. */
export const AGENT = process.env["REAL_AGENT"] as RealAgent;
export const PROGRAM = process.env["REAL_AGENT_PROGRAM"] as string;
/** The same of an older release, where one is proven, too. */
export const OLDER_PROGRAM = process.env["REAL_AGENT_OLDER_PROGRAM"];

beforeEach(({ task }) => {
  task.meta.agent = AGENT;
});

export interface Staged extends Project {
  model: Model;
}

/** A project whose agent is real, and whose model does what the turns say. */
export async function stage(
  turns: Turn[],
  more: Record<string, unknown> = {},
  program = PROGRAM,
): Promise<Staged> {
  const model = await startModel(turns);
  const p = createProject();
  const { env, home, settings } = SETUPS[AGENT];
  onTestFinished(async () => {
    await ended(p).finally(() => model.close());
    expect(model.strays).toEqual([]);
  });
  symlinkSync(program, join(p.bin, AGENT));
  for (const [path, content] of Object.entries(home?.(model.url) ?? {})) p.write(`../home/${path}`, content);
  Object.assign(p.env, env(model.url), toNobodyElse(model.url));
  p.settings({ agent: { command: AGENT, ...settings }, sandbox: { kind: "none" }, ...more });
  p.sh("git add -A && git commit -qm settings");
  // Each time a process of its own, as users start it.
  return { ...p, model, ralph: (...args) => p.start(args).result };
}

/** Nothing may go on after a test; what does is ended, for the sake of the others. */
async function ended(p: Project): Promise<void> {
  try {
    await eventually(() => processesOf(p).length === 0, 5000);
  } finally {
    for (const pid of processesOf(p)) process.kill(Number(pid), "SIGKILL");
  }
}

/** What runs with the home folder of this project. Only Linux tells. */
export function processesOf({ home }: Project): string[] {
  if (process.platform !== "linux") return [];
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => read(`/proc/${pid}/environ`).split("\0").includes(`HOME=${home}`));
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** What the table shows for an agent that goes another way. */
export function tell({ task }: TestContext, words: string): void {
  task.meta.told = words;
}
