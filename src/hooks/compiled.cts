import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { Script } from "node:vm";

export interface Compiled<T> {
  exports: T;
  /** Where nothing is kept yet: what V8 has compiled when `use` is through is kept for the next process. */
  keep(use?: () => void): void;
}

/**
 * Runs a file of the build that is one function, with what an earlier process compiled of it. `digest` is that of the
 * file, `folder` is `dist`.
 */
export function loadCompiled<T>(file: string, digest: string, folder: string): Compiled<T> {
  const cache = `${file}.${digest}.${process.version}-${process.arch}.cache`;
  const { source, cachedData } = readKept(cache) ?? { source: readFileSync(file, "latin1") };
  const script = new Script(source, { filename: file, ...(cachedData && { cachedData }) });
  const exports = {} as T;
  script.runInThisContext()(exports, require, folder);
  return {
    exports,
    keep(use) {
      if (script.cachedDataRejected === false) return;
      use?.();
      writeWhole(cache, () => asKept(source, script.createCachedData()));
    },
  };
}

/** In one file, so that one is read. V8 compares no more of a source than its length: it is that of the cache. */
function asKept(source: string, compiled: Buffer): Buffer {
  const padded = source.padEnd(Math.ceil(source.length / 8) * 8);
  return Buffer.concat([
    Buffer.from(String(source.length).padEnd(LENGTH_BYTES) + padded, "latin1"),
    compiled,
  ]);
}

function readKept(file: string): { source: string; cachedData: Buffer } | undefined {
  try {
    const kept = readFileSync(file);
    const length = Number(kept.toString("latin1", 0, LENGTH_BYTES));
    const end = LENGTH_BYTES + Math.ceil(length / 8) * 8;
    if (!(length > 0 && kept.length > end)) return undefined;
    return {
      source: kept.toString("latin1", LENGTH_BYTES, LENGTH_BYTES + length),
      cachedData: kept.subarray(end),
    };
  } catch {
    return undefined;
  }
}

const LENGTH_BYTES = 8;

/** Others see all of it or nothing. */
function writeWhole(file: string, content: () => Buffer): void {
  const begun = `${file}.${process.pid}`;
  try {
    writeFileSync(begun, "", { flag: "wx" });
    writeFileSync(begun, content());
    renameSync(begun, file);
  } catch {
    // The next process compiles again; nothing else is lost.
  } finally {
    rmSync(begun, { force: true });
  }
}
