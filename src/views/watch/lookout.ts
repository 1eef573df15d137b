import type { Redact } from "../../records/redact.js";
import type { Glance } from "../../workers/glance.js";
import { sayError } from "./say-error.js";

/** What is on disk now. */
export type LookAround = () => Glance[] | Promise<Glance[]>;

export type Sight = { type: "looked"; rows: Glance[] } | { type: "blind"; trouble: string };

export interface Lookout {
  now(): void;
  /** After a while, unless it is done before. */
  later(): void;
  end(): void;
}

const LOOK_MS = 500;

/** Looks at most once at a time. Whoever is told says when to look again. */
export function createLookout(look: LookAround, redact: Redact, tell: (sight: Sight) => void): Lookout {
  let timer: NodeJS.Timeout | undefined;
  let isLooking = false;
  const now = async (): Promise<void> => {
    clearTimeout(timer);
    if (isLooking) return;
    isLooking = true;
    tell(await seen(look, redact));
    isLooking = false;
  };
  return {
    now: () => void now(),
    later() {
      clearTimeout(timer);
      timer = setTimeout(now, LOOK_MS);
    },
    end: () => clearTimeout(timer),
  };
}

async function seen(look: LookAround, redact: Redact): Promise<Sight> {
  try {
    const rows = await look();
    return { type: "looked", rows: rows.map((row) => ({ ...row, lastLine: redact(row.lastLine) })) };
  } catch (error) {
    return { type: "blind", trouble: redact(sayError(error)) };
  }
}
