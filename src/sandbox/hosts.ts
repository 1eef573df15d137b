import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Agent } from "../agents/agent.js";
import { orElse } from "../errors.js";
import { someOf } from "../workspace/git.js";

/** Hosts that the agents need, and those that were listed. */
export function hostsFor(agents: Agent[], env: NodeJS.ProcessEnv, listed: string[]): string[] {
  const hosts = agents.flatMap(({ needs }) => needs?.hosts ?? []);
  const named = agents.flatMap(({ needs }) => needs?.urlVariables ?? []).map((name) => env[name] ?? "");
  const urls = [...named, ...agents.flatMap((agent) => urlsInSettings(agent, env))];
  const more = urls.flatMap((url) => (URL.canParse(url) ? new URL(url).host : [])).filter(Boolean);
  return [...new Set([...hosts, ...more, ...listed])];
}

function urlsInSettings({ needs, setup }: Agent, env: NodeJS.ProcessEnv): string[] {
  if (needs?.settings === undefined || setup === undefined) return [];
  const { variable, folder } = setup.loginFile;
  const base = env[variable] || join(env["HOME"] || homedir(), folder);
  const { file, urls } = needs.settings;
  return orElse(() => urls(readFileSync(join(base, file), "utf8")), []);
}

export interface Network {
  /** As the library takes them: this machine goes by its address, too. */
  domains: string[];
  /** Ports of this machine that are reached under the same number inside. */
  ports: number[];
  /** All of this machine is reached through the proxy, in place of the loopback inside. */
  reachesMachine: boolean;
}

const OWN = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::(\d+))?$/i;

/** Of hosts, with a port or without, and of ports of this machine that are needed beside them. */
export function networkOf(hosts: string[], needed: number[] = []): Network {
  const own = hosts.flatMap((host) => {
    const match = OWN.exec(host);
    return match === null ? [] : [match[1]];
  });
  const reachesMachine = own.includes(undefined);
  const ports = [...new Set([...needed, ...own.flatMap((port) => (port === undefined ? [] : Number(port)))])];
  const names = reachesMachine ? ["localhost", "127.0.0.1"] : ports.map((port) => `127.0.0.1:${port}`);
  return { domains: [...new Set([...hosts, ...names])], ports, reachesMachine };
}

/** An error of an agent, with the hosts that the sandbox refused it, and how to allow them. */
export function withRefusedHosts(error: string, refused: string[]): string {
  // Inside, nothing listens at a port of this machine that is not listed.
  const isRefusal = /refused/i.test(error);
  const ports = isRefusal ? (error.match(/\b(?:127\.0\.0\.1|localhost):\d+/g) ?? []) : [];
  const hosts = [...new Set([...refused, ...ports])];
  if (hosts.length === 0) return error;
  return `${error} (the sandbox refused to let it reach ${someOf(hosts, 5)}: sandbox.network.allow in the settings adds hosts)`;
}
