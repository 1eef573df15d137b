import { appendFileSync, existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { makePrivateFolder, readJson, writeAtomic } from "../records/files.js";
import { type RunFolder, runFolder } from "../records/runs.js";
import type { Store, StoredFile } from "./store.js";

const JOURNAL = "journal.ndjson";
const STAMPS = ".stamps.json";

/**
 * Brings the records of a run from the store into a home, what is new of them, so that everything reads them as
 * those of a local run. `names`: which of them; all unless it says.
 */
export async function downloadRun(
  store: Store,
  home: string,
  id: string,
  isWanted: (file: string) => boolean = () => true,
): Promise<RunFolder> {
  const folder = runFolder(home, id);
  makePrivateFolder(home);
  makePrivateFolder(folder.path);
  const known = (readJson(join(folder.path, STAMPS)) ?? {}) as Record<string, string>;
  const files = (await store.files(id)).filter(({ file }) => isWanted(file) && isInside(folder.path, file));
  const changed = files.filter(({ file, stamp }) => known[file] !== stamp);
  // What the journal speaks of comes first.
  for (const one of changed.toSorted((a, b) => Number(a.file === JOURNAL) - Number(b.file === JOURNAL)))
    await (one.file === JOURNAL ? extend(store, folder) : replace(store, folder, one));
  if (changed.length > 0)
    writeAtomic(
      join(folder.path, STAMPS),
      JSON.stringify({ ...known, ...Object.fromEntries(changed.map(({ file, stamp }) => [file, stamp])) }),
    );
  return folder;
}

/** Names come from the engine: they lead nowhere else. */
function isInside(folder: string, file: string): boolean {
  return resolve(folder, file).startsWith(`${folder}/`);
}

async function extend(store: Store, { id, journal }: RunFolder): Promise<void> {
  const from = existsSync(journal) ? statSync(journal).size : 0;
  for (const { at, data } of await store.read(id, JOURNAL, from)) {
    const there = existsSync(journal) ? statSync(journal).size : 0;
    if (at === there) appendFileSync(journal, await promisify(gunzip)(data), { mode: 0o600 });
  }
}

async function replace(store: Store, { id, path }: RunFolder, { file }: StoredFile): Promise<void> {
  const pieces = await store.read(id, file, 0);
  const parts = await Promise.all(pieces.map(({ data }) => promisify(gunzip)(data)));
  const target = join(path, file);
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
  writeFileSync(target, Buffer.concat(parts), { mode: 0o600 });
}
