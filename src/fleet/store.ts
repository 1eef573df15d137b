import type { Question } from "../events.js";

/**
 * What the fleet keeps in its engine beside the queue: small documents that are changed by compare-and-swap, and the
 * records of the runs, which only the holder of the highest epoch may write.
 */
export interface Store {
  /** In the order of the keys; undefined: there is none. */
  get(keys: string[]): Promise<(Document | undefined)[]>;
  /** false: the document is not at this version any more. 0: there was none. */
  swap(key: string, version: number, value: unknown): Promise<boolean>;
  /** All keys that begin with `kind:`, sorted. */
  keys(kind: string): Promise<string[]>;
  /** Makes its caller the only writer of a run's records: everybody before is refused from now on. */
  raiseEpoch(run: string): Promise<number>;
  /** Adds each piece where its file ends, or begins the file anew at 0: in one step, which is durable then. */
  append(run: string, epoch: number, pieces: FilePiece[]): Promise<AppendResult>;
  files(run: string): Promise<StoredFile[]>;
  /** The pieces of a file that begin there or later. */
  read(run: string, file: string, from: number): Promise<Piece[]>;
  /** What the engine calls itself, its time in milliseconds, and whether it keeps its data when it is killed. */
  describe(): Promise<{ name: string; now: number; isDurable: boolean }>;
  close(): Promise<void>;
}

interface Document {
  version: number;
  value: unknown;
}

export interface Piece {
  /** Where it begins in the file. */
  at: number;
  bytes: number;
  /** Those bytes, compressed. */
  data: Buffer;
}

export type FilePiece = Piece & { file: string };

/** `fenced`: somebody else writes these records now; else how long each file is, which tells what was added. */
type AppendResult = "fenced" | number[];

export interface StoredFile {
  file: string;
  bytes: number;
  /** Changes with each piece. */
  stamp: string;
}

/** How long a caller tries before it says that others are always quicker. */
const MOST_TRIES = 200;

/** Changes a document, however many others change it at the same time; undefined leaves it as it is. */
export async function change<Value>(
  store: Store,
  key: string,
  update: (before: Value | undefined) => Value | undefined,
): Promise<Value | undefined> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const [document] = await store.get([key]);
    const value = update(document?.value as Value | undefined);
    if (value === undefined || (await store.swap(key, document?.version ?? 0, value))) return value;
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
  }
  throw new Error(`${key} is changed by others all the time`);
}

interface Said {
  id: string;
  text: string;
}

/** What people want of a job: its worker looks at it every second, and so does the next one after a takeover. */
export interface Control {
  paused?: boolean;
  cancelled?: boolean;
  /** In the order in which they were said; those that the journal has are taken away. */
  steering?: Said[];
  answer?: Said & { question: Question };
}

export const controlKey = (id: string): string => `control:${id}`;

export async function controlOf(store: Store, id: string): Promise<Control> {
  const [kept] = await store.get([controlKey(id)]);
  return (kept?.value ?? {}) as Control;
}

export function changeControl(
  store: Store,
  id: string,
  update: (before: Control) => Control,
): Promise<unknown> {
  return change<Control>(store, controlKey(id), (before = {}) => update(before));
}
