import { appendFileSync, existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { inTurn } from "./lock.js";
import type { RunFolder } from "./runs.js";

/** Adds words for the next iteration of a run. */
export function addSteering(folder: RunFolder, text: string): void {
  const { waiting, turn } = filesOf(folder);
  inTurn(turn, () => appendFileSync(waiting, `${JSON.stringify(text)}\n`, { mode: 0o600 }));
}

/** The words that wait, in the order they were said. They stay on the disk until they were taken. */
export function pendingSteering(folder: RunFolder): { text: string; taken(): void } | undefined {
  const { waiting, taking, turn } = filesOf(folder);
  if (!existsSync(waiting) && !existsSync(taking)) return undefined;
  const text = inTurn(turn, () => {
    // A crash may have left some that were never taken.
    if (existsSync(taking) && existsSync(waiting)) appendFileSync(taking, readFileSync(waiting));
    else if (existsSync(waiting)) renameSync(waiting, taking);
    rmSync(waiting, { force: true });
    return textsIn(readFileSync(taking, "utf8")).join("\n\n");
  });
  return { text, taken: () => rmSync(taking, { force: true }) };
}

function filesOf({ path }: RunFolder): { waiting: string; taking: string; turn: string } {
  const waiting = join(path, "steering.ndjson");
  return { waiting, taking: `${waiting}.taking`, turn: join(path, "steering.lock") };
}

function textsIn(lines: string): string[] {
  return lines.split("\n").flatMap((line) => {
    try {
      const value: unknown = JSON.parse(line);
      return typeof value === "string" ? [value] : [];
    } catch {
      return [];
    }
  });
}
