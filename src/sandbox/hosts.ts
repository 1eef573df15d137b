import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Agent } from "../agents/agent.js";

/** Hosts that the agents need, and those that were listed. */
export function hostsFor(agents: Agent[], env: NodeJS.ProcessEnv, listed: string[]): string[] {
  const needs = agents.flatMap((agent) => agent.needs ?? []);
  const named = needs.flatMap(({ urlVariables }) => urlVariables).flatMap((name) => hostIn(env[name]));
  const set = agents.flatMap((agent) => urlsInSettings(agent, env)).flatMap(hostIn);
  return [...new Set([...needs.flatMap(({ hosts }) => hosts), ...named, ...set, ...listed])];
}

function urlsInSettings({ needs, setup }: Agent, env: NodeJS.ProcessEnv): string[] {
  if (needs?.settings === undefined || setup === undefined) return [];
  const { variable, folder } = setup.loginFile;
  const base = env[variable] || join(env["HOME"] || homedir(), folder);
  try {
    return needs.settings.urls(readFileSync(join(base, needs.settings.file), "utf8"));
  } catch {
    return [];
  }
}

/** `host`, or `host:port` where a URL names one. */
function hostIn(url: string | undefined): string[] {
  try {
    const { host } = new URL(url ?? "");
    return host === "" ? [] : [host];
  } catch {
    return [];
  }
}

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

/** The port of this machine that an entry names; undefined: another machine, or all ports. */
export function ownPort(entry: string): number | undefined {
  const { host, port } = apart(entry);
  return isLoopback(host) && port !== undefined ? Number(port) : undefined;
}

/** This machine as a whole. */
export function isWholeMachine(entry: string): boolean {
  const { host, port } = apart(entry);
  return isLoopback(host) && port === undefined;
}

function isLoopback(host: string): boolean {
  return LOOPBACK.includes(host.toLowerCase());
}

function apart(entry: string): { host: string; port: string | undefined } {
  const [, host = entry, port] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
  return { host, port };
}
