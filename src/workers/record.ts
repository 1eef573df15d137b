import { readFileSync } from "node:fs";
import { RalphError } from "../errors.js";
import type { Question, StopReason } from "../events.js";
import { writeAtomic } from "../records/files.js";
import { has } from "../records/shape.js";
import type { WorkerFolder } from "./folder.js";

/** What ralph needs to find a worker again. Its own file: nobody else writes it. */
export interface WorkerRecord {
  v: 1;
  name: string;
  /** The run that its loop works at. */
  run: string;
  recipe: string;
  workspace: string;
  createdAt: string;
  tags: string[];
  /** Variables of `--env`. */
  env: Record<string, string>;
  tmux: TmuxPlace;
  /** Whether its agent has the terminal of the window. */
  onTerminal: boolean;
  /** How the loop ended. */
  ended?:
    | {
        reason: StopReason;
        exitCode: number;
        message?: string | undefined;
        question?: Question | undefined;
        limit?: StopReason | undefined;
      }
    | undefined;
}

export interface TmuxPlace {
  /** `-L NAME` or `-S PATH`. */
  socket: [flag: "-L" | "-S", value: string];
  session: string;
}

/** For its owner alone: variables may be secrets. */
export function writeRecord(folder: WorkerFolder, record: WorkerRecord): void {
  writeAtomic(folder.record, `${JSON.stringify(record, null, 2)}\n`);
}

/** undefined where there is none, or none that can be read. */
export function readRecord(folder: WorkerFolder): WorkerRecord | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(folder.record, "utf8"));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function recordOf(folder: WorkerFolder): WorkerRecord {
  const record = readRecord(folder);
  if (record !== undefined) return record;
  throw new RalphError(`the record of worker '${folder.name}' cannot be read: ${folder.record}`, {
    code: "worker_damaged",
    exitCode: 1,
    hint: `remove it with: ralph clean ${folder.name}`,
  });
}

function isRecord(value: unknown): value is WorkerRecord {
  return (
    has(value, {
      name: "string",
      run: "string",
      workspace: "string",
      createdAt: "string",
      tags: "array",
      env: "object",
      tmux: "object",
    }) && has(value["tmux"], { socket: "array", session: "string" })
  );
}
