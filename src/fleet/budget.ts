import { createHash } from "node:crypto";
import { hostname, userInfo } from "node:os";
import { agentFor } from "../agents/index.js";
import type { LimitedAgent } from "../events.js";
import { OWN_AGENT } from "../records/limited.js";
import type { PreparedRun } from "../run/spec.js";
import { change, type Store } from "./store.js";

/** What the jobs of a day have spent, and what those at work may spend: by the ids of their runs, in USD. */
interface Ledger {
  /** `before`: what the run had cost when it was first taken on that day. */
  reserved: Record<string, { usd: number; before: number }>;
  spent: Record<string, number>;
}

const EMPTY: Ledger = { reserved: {}, spent: {} };

const sum = (amounts: number[]): number => amounts.reduce((all, one) => all + one, 0);
/** To the millionth of a dollar. */
const exactly = (usd: number): number => Number(usd.toFixed(6));

export function ledgerKey(now: Date): string {
  return `budget:${now.toISOString().slice(0, 10)}`;
}

interface Withdrawal {
  id: string;
  /** What all jobs of the day may cost together. */
  cap: number;
  /** The limit of the run; null: it takes what is left. */
  limit: number | null;
  /** What it has cost so far. */
  spent: number;
}

/**
 * Sets aside what a run may still spend today, in one step with looking whether it is there. Returns the limit of its
 * whole cost from now on; undefined: that much is not left.
 */
export async function reserve(
  store: Store,
  key: string,
  { id, cap, limit, spent }: Withdrawal,
): Promise<number | undefined> {
  let granted: number | undefined;
  await change<Ledger>(store, key, (ledger = EMPTY) => {
    const { [id]: own, ...others } = ledger.reserved;
    const { [id]: earlier = 0, ...otherSpent } = ledger.spent;
    const before = own?.before ?? spent - earlier;
    const left = exactly(
      cap - sum(Object.values(others).map(({ usd }) => usd)) - sum(Object.values(otherSpent)),
    );
    const usd = exactly(limit === null ? left : limit - before);
    granted = usd > 0 && usd <= left && before + usd > spent ? exactly(before + usd) : undefined;
    if (granted === undefined) return undefined;
    return { reserved: { ...others, [id]: { usd, before } }, spent: otherSpent };
  });
  return granted;
}

/** Gives back what a run has not spent. An unknown cost counts as the amount set aside. */
export async function giveBack(store: Store, key: string, id: string, cost: number | null): Promise<void> {
  await change<Ledger>(store, key, (ledger) => {
    const own = ledger?.reserved[id];
    if (ledger === undefined || own === undefined) return undefined;
    const { [id]: _, ...reserved } = ledger.reserved;
    const used = cost === null ? own.usd : Math.max(0, exactly(cost - own.before));
    return { reserved, spent: { ...ledger.spent, [id]: used } };
  });
}

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
