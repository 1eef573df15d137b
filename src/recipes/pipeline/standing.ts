import type { Json } from "../../events.js";
import { asJson, type Failure, failuresIn } from "../../verify/failure.js";
import { NOT_SEALED, type Sealed, sealedIn } from "./sealed.js";
import { COMPLETE, GUTTER, type PipelineState } from "./spec.js";

/** Where a pipeline stands. It is carried in the journal; `state.md` is a copy for people. */
export interface Standing {
  /** The state at work, or COMPLETE. */
  state: string;
  /** Failures of its gate so far. */
  retries: number;
  /** The retries are exhausted, and somebody has to look. */
  inGutter: boolean;
  /** The next try is that of somebody who has mended it by hand: the gate looks first. */
  isMended: boolean;
  /** What the gate said when it last failed. */
  failures: Failure[];
  /** Why the agent failed, if it did. */
  error: string | null;
  /** Gates that have run tests: they have to do so for good. */
  tested: string[];
  sealed: Sealed;
  /** `2026-01-26T18:55:00 | INIT -> STRESS_TEST` */
  history: string[];
}

export function firstStanding([first]: PipelineState[], now: Date): Standing {
  const state = first?.name ?? COMPLETE;
  return {
    state,
    ...FRESH,
    tested: [],
    sealed: NOT_SEALED,
    history: [entry(now, "INIT", state)],
  };
}

const FRESH = { retries: 0, inGutter: false, isMended: false, failures: [], error: null };

/** The gate has passed. */
export function passed(before: Standing, { name, onPass }: PipelineState, now: Date): Standing {
  return {
    ...before,
    state: onPass,
    ...FRESH,
    history: [...before.history, entry(now, name, onPass, "gate passed")],
  };
}

/** How often a gate may fail, and whether somebody has tried to mend what it said. */
export interface Tries {
  max: number;
  hasTried: boolean;
}

/** The gate has failed, once more or once too often: with one retry or more, an agent tries at least once. */
export function failed(before: Standing, failure: Failure, { max, hasTried }: Tries, now: Date): Standing {
  const { state, history } = before;
  const retries = Math.min(before.retries + 1, Math.max(1, max));
  const inGutter = retries >= max && (hasTried || max === 0);
  const added = inGutter
    ? entry(now, state, GUTTER, "max retries exhausted")
    : entry(now, state, state, `gate failed, retry ${retries}/${max}`);
  return {
    ...before,
    retries,
    inGutter,
    isMended: false,
    failures: [failure],
    error: null,
    history: [...history, added],
  };
}

/** The gate has failed, and the agent asks a human: it has not made its try. */
export function heldUp(before: Standing, failure: Failure): Standing {
  return { ...before, isMended: false, failures: [failure], error: null };
}

/** Whoever resumes from the gutter has mended something: the state begins anew. */
export function resumed(before: Standing, now: Date): Standing {
  if (!before.inGutter) return before;
  const added = entry(now, GUTTER, before.state, "resumed, retries reset");
  return { ...before, retries: 0, inGutter: false, isMended: true, history: [...before.history, added] };
}

function entry(now: Date, from: string, to: string, why?: string): string {
  return `${localTime(now)} | ${from} -> ${to}${why === undefined ? "" : ` (${why})`}`;
}

/** `2026-01-26T18:55:00`, where the user is. */
function localTime(date: Date): string {
  const minutes = date.getTime() / 60_000 - date.getTimezoneOffset();
  return new Date(minutes * 60_000).toISOString().slice(0, "2026-01-26T18:55:00".length);
}

export function asMemory({ failures, sealed, ...standing }: Standing): Json {
  return { ...standing, failures: asJson(failures), sealed: { ...sealed } };
}

/** It is read from the journal, so it is looked at before it is used; undefined: nothing was written down yet. */
export function standingIn(memory: Json | undefined): Standing | undefined {
  if (typeof memory !== "object" || memory === null || Array.isArray(memory)) return undefined;
  const { state, retries, inGutter, isMended, failures, error, history, tested, sealed } = memory;
  if (typeof state !== "string" || typeof retries !== "number") return undefined;
  return {
    state,
    retries,
    inGutter: inGutter === true,
    isMended: isMended === true,
    failures: failuresIn(failures),
    error: typeof error === "string" ? error : null,
    tested: textsIn(tested),
    sealed: sealedIn(sealed),
    history: textsIn(history),
  };
}

function textsIn(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === "string") : [];
}
