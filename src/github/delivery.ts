import { existsSync } from "node:fs";
import { z } from "zod";
import { readJson, writeAtomic } from "../records/files.js";
import type { RunFolder } from "../records/runs.js";

/** What became of a run on the forge: `github.json` beside its records. */
export type Delivery = z.infer<typeof Delivery>;
export type Following = z.infer<typeof Following>;
export type Round = z.infer<typeof Round>;

const Round = z.object({
  /** The run that works on it; null: it has not begun. */
  run: z.string().nullable(),
  /** What is to be answered: its id, and the thread that it stands in. */
  about: z.array(z.object({ id: z.string(), what: z.string(), thread: z.number().nullable() })),
  /** The same words for the same failures. */
  failure: z.string(),
  /** The task of its run, as it was asked. */
  task: z.string(),
  /** What the branch was when it began. */
  from: z.string(),
  state: z.enum(["working", "pushed", "answered"]),
  /** What came of it, as it is answered; null: nothing that is to be answered. */
  outcome: z.string().nullable(),
});

const Following = z.object({
  maxRounds: z.number(),
  maxCostUsd: z.number().nullable(),
  /** null: it goes on, also after a crash. */
  ended: z.string().nullable(),
  rounds: z.array(Round),
  /** What was answered or passed over, by its id. */
  handled: z.array(z.string()),
});

const Delivery = z.object({
  v: z.literal(1),
  host: z.string(),
  owner: z.string(),
  name: z.string(),
  branch: z.string(),
  base: z.string(),
  /** null: it is about to be opened. */
  number: z.number().nullable(),
  url: z.string().nullable(),
  /** The tip of the branch as ralph pushed it last, or took it over. */
  tip: z.string().nullable(),
  follow: Following.optional(),
});

/** undefined: nothing of it is on a forge. */
export function deliveryOf(run: RunFolder): Delivery | undefined {
  if (!existsSync(run.github)) return undefined;
  return Delivery.safeParse(readJson(run.github)).data;
}

export function keepDelivery(run: RunFolder, delivery: Delivery): Delivery {
  writeAtomic(run.github, `${JSON.stringify(delivery, null, 2)}\n`);
  return delivery;
}
