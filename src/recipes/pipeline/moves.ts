import { z } from "zod";
import type { Json } from "../../events.js";
import { asJson, type Failure, failuresIn } from "../../verify/failure.js";
import { NOT_SEALED, Seals } from "./sealed.js";
import { COMPLETE, GUTTER, type PipelineState } from "./spec.js";

const POSITION = z.object({
  state: z.string(),
  retries: z.number(),
  /** The retries are exhausted, and a person has to look. */
  inGutter: z.boolean().catch(false),
  /** A person has mended what is wrong: the gate looks first. */
  isMended: z.boolean().catch(false),
  error: z.string().nullable().catch(null),
  /** Commands of gates that have run tests: they have to do so for good. */
  tested: z.array(z.string()).catch([]),
  /** `2026-01-26T18:55:00 | INIT -> STRESS_TEST` */
  history: z.array(z.string()).catch([]),
  /** What the gate said when it last failed. */
  failures: z.custom<Json>().transform(failuresIn),
  sealed: Seals,
});

/** Where a pipeline stands. It is carried in the journal; `state.md` is a copy for people. */
export type PipelinePosition = z.infer<typeof POSITION>;

const FRESH = { retries: 0, inGutter: false, isMended: false, failures: [], error: null };

export function firstPosition([first]: PipelineState[], now: Date): PipelinePosition {
  const state = first?.name ?? COMPLETE;
  return { state, ...FRESH, tested: [], sealed: NOT_SEALED, history: [entry(now, "INIT", state)] };
}

export function passed(before: PipelinePosition, state: PipelineState, now: Date): PipelinePosition {
  const history = [...before.history, entry(now, state.name, state.onPass, "gate passed")];
  return { ...before, state: state.onPass, ...FRESH, history };
}

/** Once more, or into the gutter: an agent may try `max` times; where none works, the gate may fail `max` times. */
export function failed(
  before: PipelinePosition,
  state: PipelineState,
  failure: Failure,
  max: number,
  now: Date,
): PipelinePosition {
  // Where the gate looks first, its first failure is no try of an agent.
  const tries = state.agent === "on-fail" ? before.retries : before.retries + 1;
  const isTry = state.agent === "never" || needsAgent(state, before);
  const inGutter = max === 0 || (isTry && tries >= max);
  const retries = Math.min(before.retries + 1, Math.max(1, max));
  const added = inGutter
    ? entry(now, before.state, GUTTER, "max retries exhausted")
    : entry(now, before.state, before.state, `gate failed, retry ${retries}/${max}`);
  return { ...heldUp(before, failure), retries, inGutter, history: [...before.history, added] };
}

/** The gate has failed, and the agent asks a human: it has not made its try. */
export function heldUp(before: PipelinePosition, failure: Failure): PipelinePosition {
  return { ...before, isMended: false, failures: [failure], error: null };
}

/** A person who resumes from the gutter has mended something: the state begins anew. */
export function resumed(before: PipelinePosition, now: Date): PipelinePosition {
  const history = [...before.history, entry(now, GUTTER, before.state, "resumed, retries reset")];
  return { ...before, retries: 0, inGutter: false, isMended: true, history };
}

/** Whether an agent works before the gate runs. */
export function needsAgent({ agent }: PipelineState, { retries, isMended }: PipelinePosition): boolean {
  if (agent === "never") return false;
  return retries > 0 || (agent === "before" && !isMended);
}

function entry(now: Date, from: string, to: string, why?: string): string {
  const local = new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString();
  const time = local.slice(0, "2026-01-26T18:55:00".length);
  return `${time} | ${from} -> ${to}${why === undefined ? "" : ` (${why})`}`;
}

export function asMemory({ failures, sealed, ...position }: PipelinePosition): Json {
  return { ...position, failures: asJson(failures), sealed: { ...sealed } };
}

/** What `asMemory` wrote, as it is read from a journal; undefined: nothing was written yet. */
export function positionIn(memory: Json | undefined): PipelinePosition | undefined {
  return POSITION.safeParse(memory).data;
}

/** For people: what is read from it is never believed. */
export function stateText({ state, retries, history }: PipelinePosition): string {
  return `# RALPH State

current_state: ${state}
retry_count: ${retries}
history:
${history.map((line) => `  - ${line}\n`).join("")}`;
}
