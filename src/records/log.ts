import { closeSync, writeFileSync } from "node:fs";
import { describeSystemError } from "../errors.js";
import { openFresh } from "./files.js";
import type { Redact } from "./redact.js";

const HOLD_BYTES = 64 * 1024;
const OVERLAP_BYTES = 4 * 1024;
const STEP_BYTES = 1024;

export type Log = ReturnType<typeof openLog>;

/**
 * Everything a process wrote, on disk, without secrets. Whole lines are written at a time, so that a secret
 * that arrives in two pieces is still seen as one. A full disk is remembered and does not stop the process.
 */
export function openLog(path: string, redact: Redact) {
  let file: number | undefined;
  let held: Buffer = Buffer.alloc(0);
  let failure: string | undefined;
  const flush = (data: Buffer): void => {
    if (failure !== undefined) return;
    try {
      file ??= openFresh(path, 0o600);
      // Latin-1 keeps every byte as it is, so text in any encoding goes through unharmed.
      const text = data.toString("latin1");
      const clean = redact(text);
      writeFileSync(file, clean === text ? data : Buffer.from(clean, "latin1"));
    } catch (error) {
      failure = describeSystemError(error);
    }
  };
  return {
    write(data: Buffer): void {
      const all = held.length === 0 ? data : Buffer.concat([held, data]);
      const end = all.lastIndexOf("\n") + 1;
      const cut = end === 0 && all.length > HOLD_BYTES ? safeCut(all, redact) : end;
      if (cut > 0) flush(all.subarray(0, cut));
      held = all.subarray(cut);
    },
    /** Returns why the log is incomplete, or undefined. */
    close(): string | undefined {
      // An empty log says that nothing was written.
      flush(held);
      held = Buffer.alloc(0);
      if (file !== undefined) closeSync(file);
      return failure;
    },
  };
}

/** A place in a long line where no secret is cut in two: both parts come out as the whole does. */
function safeCut(data: Buffer, redact: Redact): number {
  const text = data.toString("latin1");
  const whole = redact(text);
  for (let cut = data.length - OVERLAP_BYTES; cut > 0; cut -= STEP_BYTES)
    if (redact(text.slice(0, cut)) + redact(text.slice(cut)) === whole) return cut;
  return 0;
}
