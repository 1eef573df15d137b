import { createHash } from "node:crypto";
import { hostname, userInfo } from "node:os";
import { agentFor } from "../agents/index.js";
import type { LimitedAgent } from "../events.js";
import { OWN_AGENT } from "../records/limited.js";
import type { PreparedRun } from "../run/spec.js";
import { change, type Store } from "./store.js";

/**
 * The accounts that the agents of a run are billed to, by their roles: an agent with its key, of which a hash is kept.
 * Who is signed in with no key shares the account with others of this user on this machine.
 */
export async function accountsOf({ spec, variables }: PreparedRun): Promise<Record<string, string>> {
  const accounts: Record<string, string> = {};
  for (const [role, { words }] of Object.entries({ ...spec.agents, [OWN_AGENT]: spec.agent })) {
    const agent = await agentFor(words[0] ?? "");
    const env = { ...process.env, ...variables[role] };
    const key = agent.credentials.flatMap((name) => env[name] || [])[0];
    const who = key ?? `${userInfo().username}@${hostname()}`;
    const hash = createHash("sha256").update(`${agent.name} ${who}`).digest("hex").slice(0, 16);
    accounts[role] = `account:${agent.name}-${hash}`;
  }
  return accounts;
}

/** Tells the others of the account. A limit that ends later wins. */
export function shareLimit(store: Store, account: string, limit: LimitedAgent): Promise<unknown> {
  return change<LimitedAgent>(store, account, (before) =>
    before !== undefined && before.until >= limit.until ? undefined : limit,
  );
}

/** Keeps what the store knows of accounts: its answers stand in their order. */
export function keepLimits(
  known: Map<string, LimitedAgent>,
  accounts: string[],
  found: Awaited<ReturnType<Store["get"]>>,
): void {
  for (const [at, account] of accounts.entries()) {
    const limit = found[at]?.value as LimitedAgent | undefined;
    if (limit !== undefined) known.set(account, limit);
  }
}

/** By the roles of a run: the limits that others have met and that still hold. */
export function limitsIn(
  accounts: Record<string, string>,
  known: Map<string, LimitedAgent>,
): Record<string, LimitedAgent> {
  const now = new Date().toISOString();
  return Object.fromEntries(
    Object.entries(accounts).flatMap(([role, account]) => {
      const limit = known.get(account);
      return limit !== undefined && limit.until > now ? [[role, limit]] : [];
    }),
  );
}
