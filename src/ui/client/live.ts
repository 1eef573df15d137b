import { signal } from "@preact/signals";
import type { Group, RunRow } from "../api.js";
import type { EntryUpdate } from "./held.js";
import { loadOverview, takeRows, trouble } from "./store.js";

/**
 * One stream for all tabs of a browser: a browser opens only six connections to a server. The tab that holds the lock
 * reads it and hands everything on. A tab that nobody sees gives the lock back.
 */

export type LiveState = "connecting" | "live" | "lost" | "resting";
export const liveState = signal<LiveState>("connecting");
/** Since when nothing can be told. */
export const lostSince = signal<number | undefined>(undefined);

type TabMessage =
  | { kind: "rows"; rows: RunRow[]; gone: string[]; counts: Record<Group, number> }
  | { kind: "entry"; told: EntryUpdate }
  | { kind: "again"; run: string }
  | { kind: "state"; state: LiveState }
  | { kind: "want"; tab: string; run: string | undefined; next: number }
  | { kind: "who" };

const channel = new BroadcastChannel("ralph");
const tab = `${Date.now()} ${Math.random()}`;
/** Without https browsers have locks for this machine's own servers alone: elsewhere each tab has its own stream. */
const isShared = navigator.locks !== undefined;

/** What this tab looks at. */
let wanted: { run: string; next: number } | undefined;
let hear: ((told: EntryUpdate) => void) | undefined;
/** What all tabs look at; the leader alone needs it. */
const wants = new Map<string, { run: string; next: number }>();
let source: EventSource | undefined;
let cursors = new Map<string, number>();
let isLeader = false;
/** When the server was heard last, by whatever tab. */
let heardAt = 0;

/** Follows the journal of a run from there; one run for each tab. Returns what ends that. */
export function follow(run: string, next: number, listener: (told: EntryUpdate) => void): () => void {
  wanted = { run, next };
  hear = listener;
  wish();
  return () => {
    if (hear !== listener) return;
    [wanted, hear] = [undefined, undefined];
    wish();
  };
}

function wish(): void {
  const message: TabMessage = { kind: "want", tab, run: wanted?.run, next: wanted?.next ?? 0 };
  if (isLeader) take(message);
  else send(message);
}

function send(message: TabMessage): void {
  if (isShared) channel.postMessage(message);
}

function take(message: TabMessage): void {
  switch (message.kind) {
    case "rows":
      takeRows(message.rows, message.gone, message.counts);
      return;
    case "entry": {
      const { told } = message;
      // Another tab may have asked for what this one has already, or not want what comes before.
      if (wanted?.run !== told.run || told.next <= wanted.next || told.from > wanted.next) return;
      wanted.next = told.next;
      hear?.(told);
      return;
    }
    case "again":
      if (wanted?.run === message.run) location.reload();
      return;
    case "state":
      setState(message.state);
      return;
    case "want":
      if (isLeader) takeWant(message);
      return;
    case "who":
      if (!isLeader) wish();
      else send({ kind: "state", state: liveState.value });
  }
}

function setState(state: LiveState): void {
  if (state === "live") heardAt = Date.now();
  liveState.value = state;
  lostSince.value = state === "lost" ? (lostSince.value ?? Date.now()) : undefined;
  if (state === "live") trouble.value = undefined;
}

function takeWant({ tab: from, run, next }: TabMessage & { kind: "want" }): void {
  if (run === undefined) wants.delete(from);
  else wants.set(from, { run, next });
  const watched = new Set([...wants.values()].map((one) => one.run));
  const before = [...cursors].length;
  cursors = new Map([...cursors].filter(([id]) => watched.has(id)));
  const known = run === undefined ? undefined : cursors.get(run);
  if (run !== undefined) cursors.set(run, Math.min(known ?? next, next));
  // A stream that tells too much does no harm; one that tells too little is opened anew.
  if (run !== undefined && (known === undefined || next < known)) open();
  else if (cursors.size < before) open();
}

function tellAll(message: TabMessage): void {
  take(message);
  send(message);
}

function open(): void {
  source?.close();
  const watch = [...cursors].map(([id, at]) => `${id}:${at}`).join(" ");
  const own = new EventSource(`/api/live?watch=${encodeURIComponent(watch)}`);
  source = own;
  heardAt = Date.now();
  own.addEventListener("open", () => {
    tellAll({ kind: "state", state: "live" });
    void loadOverview();
  });
  own.addEventListener("ping", () => tellAll({ kind: "state", state: "live" }));
  own.addEventListener("again", ({ data }) => tellAll({ kind: "again", ...JSON.parse(String(data)) }));
  own.addEventListener("rows", ({ data }) => tellAll({ kind: "rows", ...JSON.parse(String(data)) }));
  own.addEventListener("entry", ({ data }) => {
    const told = JSON.parse(String(data)) as EntryUpdate;
    cursors.set(told.run, told.next);
    tellAll({ kind: "entry", told });
  });
  own.addEventListener("error", () => {
    tellAll({ kind: "state", state: "lost" });
  });
}

/** The server says every 5 seconds that it is there. */
const SILENT_MS = 12_000;
/** A server that has refused is not asked again by the browser itself. */
const RETRY_MS = 2000;

/** Who has heard nothing for long cannot tell; who leads asks again. */
function doubt(): void {
  const silentMs = Date.now() - heardAt;
  const isRefused = source?.readyState === EventSource.CLOSED && silentMs > RETRY_MS;
  if (liveState.value === "live" && silentMs > SILENT_MS) setState("lost");
  if (isLeader && (isRefused || silentMs > SILENT_MS)) open();
}

let rest: (() => void) | undefined;

/** Waits for its turn to lead, for as long as somebody looks at this tab. */
function lead(): void {
  if (document.visibilityState === "hidden" || rest !== undefined) return;
  const waiting = new AbortController();
  let release: () => void = () => {};
  rest = () => {
    waiting.abort();
    release();
  };
  const begin = (): Promise<void> => {
    isLeader = true;
    wants.clear();
    cursors = new Map();
    if (wanted !== undefined) {
      wants.set(tab, { ...wanted });
      cursors.set(wanted.run, wanted.next);
    }
    open();
    send({ kind: "who" });
    return new Promise((resolve) => {
      release = resolve;
    });
  };
  const turn = isShared ? navigator.locks.request("ralph-live", { signal: waiting.signal }, begin) : begin();
  turn.catch(() => {});
  // Who leads already says how it stands, and hears what this tab looks at.
  if (!isLeader) send({ kind: "who" });
  wish();
}

function stopLeading(): void {
  rest?.();
  rest = undefined;
  source?.close();
  source = undefined;
  isLeader = false;
  setState("resting");
}

export function startLive(onReturn: () => void): void {
  channel.addEventListener("message", ({ data }) => take(data as TabMessage));
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") return stopLeading();
    setState("connecting");
    lead();
    onReturn();
  });
  addEventListener("pagehide", () => {
    send({ kind: "want", tab, run: undefined, next: 0 });
    stopLeading();
  });
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted) lead();
  });
  setInterval(doubt, 1000);
  lead();
}
