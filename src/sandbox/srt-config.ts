import type { SandboxRuntimeConfig } from "@anthropic-ai/sandbox-runtime";
import { isWholeMachine, ownPort } from "./hosts.js";

export interface Policy {
  /** Hosts that may be reached, with a port or without. */
  hosts: string[];
  ports: number[];
  denyRead: string[];
  allowWrite: string[];
  denyWrite: string[];
}

/** A policy in the words of the library. */
export function srtConfig({ hosts, ports, denyRead, allowWrite, denyWrite }: Policy): SandboxRuntimeConfig {
  const own = hosts.some(isWholeMachine)
    ? ["localhost", "127.0.0.1"]
    : portsOf(hosts, ports).map((port) => `127.0.0.1:${port}`);
  return {
    network: { allowedDomains: [...new Set([...hosts, ...own])], deniedDomains: [] },
    filesystem: { denyRead, allowWrite, denyWrite },
  };
}

/** Ports of this machine that have to be reached. */
export function portsOf(hosts: string[], ports: number[]): number[] {
  return [...new Set([...ports, ...hosts.flatMap((host) => ownPort(host) ?? [])])];
}
