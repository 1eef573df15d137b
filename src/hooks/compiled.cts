import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { Script } from "node:vm";

export interface CompiledModule<T> {
  exports: T;
  /** Stores what V8 has compiled after `use`, unless it is stored already. */
  keep(use?: () => void): void;
}

/** Runs a bundle of the build with the code that an earlier process compiled. `folder` is `dist`. */
export function loadCompiled<T>(file: string, digest: string, folder: string): CompiledModule<T> {
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
      writeKept(cache, source, script);
    },
  };
}

const LENGTH_BYTES = 8;
const aligned = (length: number): number => Math.ceil(length / 8) * 8;

function readKept(cache: string): { source: string; cachedData: Buffer } | undefined {
  try {
    const kept = readFileSync(cache);
    const length = Number(kept.toString("latin1", 0, LENGTH_BYTES));
    const end = LENGTH_BYTES + aligned(length);
    if (!(length > 0 && kept.length > end)) return undefined;
    const source = kept.toString("latin1", LENGTH_BYTES, LENGTH_BYTES + length);
    return { source, cachedData: kept.subarray(end) };
  } catch {
    return undefined;
  }
}

/** Source and cache are one file, so that one read suffices; V8 compares only the length of a source. */
function writeKept(cache: string, source: string, script: Script): void {
  const begun = `${cache}.${process.pid}`;
  try {
    // Check first whether it can be written: compiled code takes long to produce.
    writeFileSync(begun, "", { flag: "wx" });
    const head = String(source.length).padEnd(LENGTH_BYTES) + source.padEnd(aligned(source.length));
    writeFileSync(begun, Buffer.concat([Buffer.from(head, "latin1"), script.createCachedData()]));
    renameSync(begun, cache);
  } catch {
    // If this fails, the next process compiles again.
  } finally {
    rmSync(begun, { force: true });
  }
}
