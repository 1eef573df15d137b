import { cpSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { manifest } from "../package-folder.cjs";
import { writeAtomic } from "../records/files.js";
import { type SigningKey, signatureOf, signWith } from "./signature.js";
import { type ReceiptFacts, sha256, statementOf, textOf } from "./statement.js";

const FILE = "receipt.json";
/** Objects of git that no commit holds, beside the receipt. */
const STORE = "work.git";

/** Where the receipt of a run is, by the folder of its records. */
export function receiptIn(records: string): string {
  return join(records, FILE);
}

/** Where `takeSnapshot` keeps what no commit holds, so that `ralph verify` finds it. */
export function storeIn(records: string): string {
  return join(records, STORE);
}

/** Writes the receipt of a verification that passed into a folder of records, signed with `key`. Returns its file. */
export async function writeReceipt(
  records: string,
  facts: Omit<ReceiptFacts, "ralph">,
  key?: SigningKey,
): Promise<string> {
  const statement = statementOf({ ...facts, ralph: manifest().version }, key?.fingerprint);
  const file = receiptIn(records);
  rmSync(signatureOf(file), { force: true });
  writeAtomic(file, textOf(statement));
  if (key === undefined) return file;
  try {
    await signWith(key, file);
    return file;
  } catch (error) {
    // It says that it is signed.
    rmSync(file);
    throw error;
  }
}

/** What was proved in other records counts for these, too. Returns the file; undefined: nothing was. */
export function copyReceipt(from: string, to: string): string | undefined {
  const [file, copy] = [receiptIn(from), receiptIn(to)];
  const all = [
    [file, copy],
    [signatureOf(file), signatureOf(copy)],
    [storeIn(from), storeIn(to)],
  ] as const;
  for (const [path, place] of all) if (existsSync(path)) cpSync(path, place, { recursive: true });
  return existsSync(copy) ? copy : undefined;
}

/** Of the log of a check; undefined: there is none. */
export function digestOfLog(file: string): string | undefined {
  return existsSync(file) ? sha256(readFileSync(file)) : undefined;
}
