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
