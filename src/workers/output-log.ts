import { appendFileSync, renameSync, statSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import type { WorkerFolder } from "./folder.js";

const MAX_BYTES = 16 * 1024 * 1024;

/** The stream, with everything that is written to it also in the worker's log, without colours. */
export function loggedStream(stream: NodeJS.WriteStream, folder: WorkerFolder): NodeJS.WriteStream {
  let bytes = statSync(folder.output, { throwIfNoEntry: false })?.size ?? 0;
  const log = (text: string): void => {
    try {
      // A night's work must not fill the disk: the last part and the one before it are kept.
      if (bytes > MAX_BYTES) {
        renameSync(folder.output, `${folder.output}.1`);
        bytes = 0;
      }
      appendFileSync(folder.output, text, { mode: 0o600 });
      bytes += Buffer.byteLength(text);
    } catch {
      // It is a copy: the records of the run are elsewhere.
    }
  };
  return Object.create(stream, {
    write: {
      value: (text: string): boolean => {
        log(stripVTControlCharacters(text).replaceAll("\r", ""));
        return stream.write(text);
      },
    },
  }) as NodeJS.WriteStream;
}
