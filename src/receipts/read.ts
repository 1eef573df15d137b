import { z } from "zod";
import { orElse, RalphError } from "../errors.js";
import {
  DETAILS,
  digestOf,
  PREDICATE_TYPE,
  type ReceiptDetails,
  STATEMENT_TYPE,
  STEERING,
  type Statement,
  VERSION,
} from "./statement.js";

/** What a receipt says. */
export interface Receipt extends ReceiptDetails {
  commit: string | undefined;
  tree: string;
  /** Somebody changed it after it was written, and did not sign it. */
  isEdited: boolean;
}

const MOST_CHECKS = 1000;

const HASH = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const sha256 = z.string().regex(/^[0-9a-f]{64}$/, "expected a sha256");
/** One line that steers no terminal. */
const line = z.string().refine((text) => !STEERING.test(text), "has control characters");
/** It is run, and never printed. */
const command = z.string().refine((text) => !text.includes("\0"), "has a NUL");

const Check = z.strictObject({
  name: line,
  command: command.nullable(),
  sha256,
  exitCode: z.int().nullable(),
  durationMs: z.number(),
  log: z.strictObject({ sha256 }).nullable(),
  flaky: z.array(line),
  witness: z.enum(["red→green", "green→green"]).nullable(),
});

const Details = z.strictObject({
  v: z.literal(VERSION),
  kind: z.enum(["run", "landing"]),
  run: line,
  recipe: line,
  agent: z.strictObject({ name: line, model: line.nullable() }),
  ralph: line,
  finishedAt: line,
  base: z.string().regex(HASH, "expected a commit").nullable(),
  folder: line.refine((path) => !/^\/|(^|\/)\.\.(\/|$)/.test(path), "leads out of the repository"),
  setup: command.nullable(),
  confirmed: z.int(),
  checks: z.array(Check).max(MOST_CHECKS, `more than ${MOST_CHECKS} checks`),
  signer: line.nullable(),
  sha256,
}) satisfies z.ZodType<ReceiptDetails>;

const Predicate = z.strictObject({
  result: z.enum(["PASSED", "WARNED"]),
  configuration: z.array(z.strictObject({ name: line, digest: z.strictObject({ sha256 }) })).max(MOST_CHECKS),
  passedTests: z.array(line).max(MOST_CHECKS),
  warnedTests: z.array(line).max(MOST_CHECKS),
  failedTests: z.array(line).max(0, "a receipt has no failed checks"),
  [DETAILS]: Details,
});

const Known = z.object({
  _type: z.literal(STATEMENT_TYPE),
  predicateType: z.literal(PREDICATE_TYPE),
  predicate: z.object({ [DETAILS]: z.looseObject({ v: z.int() }) }),
});

const Subject = z.array(z.strictObject({ name: line, digest: z.record(z.string(), z.string()) })).max(2);

const ReceiptStatement = z.strictObject({
  _type: z.literal(STATEMENT_TYPE),
  subject: Subject,
  predicateType: z.literal(PREDICATE_TYPE),
  predicate: Predicate,
});

/** Throws what is no receipt. */
export function readReceipt(text: string, name: string): Receipt {
  const refuse = (what: string, hint?: string): RalphError =>
    new RalphError(`${name} ${what}`, { code: "receipt_invalid", ...(hint && { hint }) });
  const value: unknown = orElse(() => JSON.parse(text), undefined);
  const known = Known.safeParse(value);
  if (!known.success) throw refuse("is not a receipt of ralph");
  const { v } = known.data.predicate[DETAILS];
  if (v > VERSION) throw refuse("comes from a newer ralph", "npm install -g ralph-loop@latest updates ralph");
  const { subject } = value as { subject?: unknown };
  const digests = Object.assign({}, ...(Subject.safeParse(subject).data ?? []).map(({ digest }) => digest));
  const { gitCommit: commit, gitTree: tree } = digests as Record<string, string | undefined>;
  if (tree === undefined || !HASH.test(tree) || (commit !== undefined && !HASH.test(commit)))
    throw refuse("has a subject that is not a commit");
  const { data, error } = ReceiptStatement.safeParse(value);
  if (data === undefined) {
    const { path = [], message = "" } = error.issues[0] ?? {};
    const where = path.slice(1).map((part) => `${String(part)}.`);
    throw refuse(`is malformed: ${where.join("").replace(/\.$/, ": ")}${message}`);
  }
  const details = data.predicate[DETAILS];
  return { ...details, commit, tree, isEdited: digestOf(data as Statement) !== details.sha256 };
}

/** The JSON Schema of receipts. */
export function receiptSchema(): object {
  return { title: "A receipt of ralph, version 1", ...z.toJSONSchema(ReceiptStatement) };
}
