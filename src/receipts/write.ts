import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { manifest } from "../package-folder.cjs";
import { writeAtomic } from "../records/files.js";
import { type ReceiptFacts, sha256, statementOf } from "./statement.js";

const FILE = "receipt.json";
/** Objects of git that no commit holds, beside the receipt. */
const STORE = "work.git";

/** Where the receipt of a run is, by the folder of its records. */
function receiptIn(records: string): string {
  return join(records, FILE);
}

/** Where `takeSnapshot` keeps what no commit holds, so that `ralph verify` finds it. */
export function storeIn(records: string): string {
  return join(records, STORE);
}

/** Writes the receipt of a verification that passed into a folder of records, and returns its file. */
export function writeReceipt(records: string, facts: Omit<ReceiptFacts, "ralph">): string {
  const statement = statementOf({ ...facts, ralph: manifest().version });
  const file = receiptIn(records);
  writeAtomic(file, `${JSON.stringify(statement, null, 2)}\n`);
  return file;
}

/** Of the log of a check; undefined: there is none. */
export function digestOfLog(file: string): string | undefined {
  return existsSync(file) ? sha256(readFileSync(file)) : undefined;
}
