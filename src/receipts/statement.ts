import { createHash } from "node:crypto";
import { cpSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { manifest } from "../package-folder.cjs";
import { writeAtomic } from "../records/files.js";
import { type SigningKey, signatureOf, signWith } from "./signature.js";

/** What a receipt says, in the form of an in-toto Statement: who verified which commit, with what result. */

export const STATEMENT_TYPE = "https://in-toto.io/Statement/v1";
export const PREDICATE_TYPE = "https://in-toto.io/attestation/test-result/v0.1";
/** Everything beyond what every test result has stands under this key. */
export const DETAILS = "urn:ralph-loop:receipt";
/** The form of the details: a later one has a higher number. */
export const VERSION = 1;

/** As it is written: every field is there, in this order. */
export interface Statement {
  _type: typeof STATEMENT_TYPE;
  subject: { name: string; digest: Record<string, string> }[];
  predicateType: typeof PREDICATE_TYPE;
  predicate: {
    result: "PASSED" | "WARNED";
    configuration: { name: string; digest: { sha256: string } }[];
    passedTests: string[];
    warnedTests: string[];
    failedTests: string[];
    [DETAILS]: ReceiptDetails;
  };
}

export interface ReceiptDetails {
  v: typeof VERSION;
  /** A run has ended, or its work has landed on a branch. */
  kind: "run" | "landing";
  run: string;
  recipe: string;
  agent: { name: string; model: string | null };
  /** The version of ralph. */
  ralph: string;
  finishedAt: string;
  /** The commit that the run started from. */
  base: string | null;
  /** Where the checks ran, from the top of the repository on; empty: at the top. */
  folder: string;
  /** Shell command that makes a new checkout ready. */
  setup: string | null;
  /** How often the checks were run again after they had passed. */
  confirmed: number;
  checks: ReceiptCheck[];
  /** The fingerprint of the key that it is signed with. */
  signer: string | null;
  /** Of everything else: it tells a receipt that was damaged or edited. */
  sha256: string;
}

export interface ReceiptCheck {
  name: string;
  /** null: it is hidden. */
  command: string | null;
  /** Of its command: it tells a hidden check from another. */
  sha256: string;
  exitCode: number | null;
  durationMs: number;
  log: { sha256: string } | null;
  /** What came of it each time, if that differed. */
  flaky: string[];
  /** What became of it since the run began; null: nobody looked before. */
  witness: "red→green" | "green→green" | null;
}

/** What there is to say of a verification that passed. */
interface ReceiptFacts extends Omit<ReceiptDetails, "v" | "ralph" | "signer" | "sha256"> {
  /** What was verified. Without a commit, some of it is not committed. */
  subject: { commit?: string | undefined; tree: string };
}

function statementOf({ subject, ...facts }: ReceiptFacts, signer: string | null): Statement {
  const { kind, run, recipe, agent, finishedAt, base, folder, setup, confirmed } = facts;
  const { name, model } = agent;
  const checks = facts.checks.map((check) => {
    return { ...check, name: plainLine(check.name), flaky: check.flaky.map(plainLine) };
  });
  const warned = checks.filter(({ flaky }) => flaky.length > 0);
  const details = {
    ...{ v: VERSION, kind, run, recipe },
    agent: { name: plainLine(name), model: model && plainLine(model) },
    ...{ ralph: manifest().version, finishedAt, base, folder, setup, confirmed, checks, signer, sha256: "" },
  } satisfies ReceiptDetails;
  const statement: Statement = {
    _type: STATEMENT_TYPE,
    subject: [
      ...(subject.commit === undefined ? [] : [{ name: "commit", digest: { gitCommit: subject.commit } }]),
      { name: "tree", digest: { gitTree: subject.tree } },
    ],
    predicateType: PREDICATE_TYPE,
    predicate: {
      // A run without a check has only the agent's word.
      result: checks.length === 0 || warned.length > 0 ? "WARNED" : "PASSED",
      configuration: checks.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
      passedTests: checks.filter((check) => !warned.includes(check)).map(({ name }) => name),
      warnedTests: warned.map(({ name }) => name),
      failedTests: [],
      [DETAILS]: details,
    },
  };
  details.sha256 = digestOf(statement);
  return statement;
}

/** Characters that steer a terminal or turn the direction of a text. */
export const STEERING = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

function plainLine(text: string): string {
  return text.replace(new RegExp(`${STEERING.source}+`, "gu"), " ").trim();
}

/** The same statement is the same text. Nothing in it steers the terminal of somebody who looks at it. */
function textOf(statement: Statement): string {
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  const text = JSON.stringify(statement, null, 2);
  return `${text.replace(new RegExp(STEERING.source, "gu"), (unit) => (unit === "\n" ? unit : escaped(unit)))}\n`;
}

/** Of all that it says, whatever its layout. */
export function digestOf({ predicate, ...statement }: Statement): string {
  const details = { ...predicate[DETAILS], sha256: "" };
  return sha256(JSON.stringify({ ...statement, predicate: { ...predicate, [DETAILS]: details } }));
}

export function sha256(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

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
export async function writeReceipt(records: string, facts: ReceiptFacts, key?: SigningKey): Promise<string> {
  const statement = statementOf(facts, key?.fingerprint ?? null);
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
