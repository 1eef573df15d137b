import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Agent } from "../agents/agent.js";
import { orElse } from "../errors.js";
import { someOf } from "../workspace/git.js";

/** The hosts that the agents need, and those that the user lists. */
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
  /** In the form of the library, which also knows this machine by its address. */
  domains: string[];
  /** Ports of this machine that the sandbox offers under the same number. */
  ports: number[];
  /** The whole machine is reachable through the proxy, in place of the loopback inside. */
  reachesMachine: boolean;
}

const OWN = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::(\d+))?$/i;

/** For hosts, with or without a port, and for further ports of this machine. */
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

/** An agent's error, with the hosts that the sandbox refused, and how to allow them. */
export function withRefusedHosts(error: string, refused: string[]): string {
  // Inside, nothing listens on an unlisted port of this machine.
  const isRefusal = /refused/i.test(error);
  const ports = isRefusal ? (error.match(/\b(?:127\.0\.0\.1|localhost):\d+/g) ?? []) : [];
  const hosts = [...new Set([...refused, ...ports])];
  if (hosts.length === 0) return error;
  return `${error} (the sandbox refused to let it reach ${someOf(hosts, 5)}: sandbox.network.allow in the settings adds hosts)`;
}
