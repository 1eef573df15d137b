import { join } from "node:path";
import { command } from "../../src/agents/command.js";
import type { AgentSetup } from "../../src/ask/run-agent.js";
import type { Project } from "../kit.js";

export const UNLIMITED = { costUsd: undefined, tokens: undefined, timeMs: undefined };

export function setupFor(p: Project, agent: string): AgentSetup {
  return {
    agent: command,
    name: agent,
    words: [join(p.bin, agent)],
    flags: [],
    model: undefined,
    permissions: "unattended",
    help: "",
    mode: "stream",
    workspace: p.dir,
    inRepository: true,
    env: p.env,
    redact: (text) => text,
    inactivityTimeoutMs: 0,
    iterationTimeoutMs: null,
    allowOverage: false,
    fingerprint: async () => "",
    kill: new AbortController().signal,
    folderFor: () => p.root,
  };
}
