import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Script } from "node:vm";

export interface Compiled<T> {
  exports: T;
  /** Where nothing is kept yet: what V8 has compiled when `use` is through is kept for the next process. */
  keep(use: () => void): void;
}

/** Runs a file of the build that is one function, with what an earlier process compiled of it. `folder` is `dist`. */
export function loadCompiled<T>(file: string, folder: string): Compiled<T> {
  const source = readFileSync(file, "utf8");
  const cache = cacheOf(file, source);
  const cachedData = readIfThere(cache);
  const script = new Script(source, { filename: file, ...(cachedData && { cachedData }) });
  const isUsed = cachedData !== undefined && script.cachedDataRejected === false;
  if (cachedData !== undefined && !isUsed) rmSync(cache, { force: true });
  const exports = {} as T;
  script.runInThisContext()(exports, require, folder);
  return {
    exports,
    keep(use) {
      if (isUsed) return;
      use();
      writeOnce(cache, () => script.createCachedData());
    },
  };
}

/** V8 compares no more of a source than its length: the digest in its first line is part of the name. */
function cacheOf(file: string, source: string): string {
  const digest = source.slice(3, source.indexOf("\n"));
  return `${file}.${digest}.${process.version}-${process.arch}.cache`;
}

function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

/** Others see all of it or nothing, and the first one stays. */
function writeOnce(file: string, content: () => Buffer): void {
  const begun = `${file}.${process.pid}`;
  try {
    writeFileSync(begun, "", { flag: "wx" });
    writeFileSync(begun, content());
    linkSync(begun, file);
  } catch {
    // The next process compiles again; nothing else is lost.
  } finally {
    rmSync(begun, { force: true });
  }
}
