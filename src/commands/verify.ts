import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { type Receipt, readReceipt, receiptSchema } from "../receipts/read.js";
import { type RecheckResult, recheck } from "../receipts/recheck.js";
import { checkSignature, type SignatureVerdict, signatureOf } from "../receipts/signature.js";
import { receiptIn, sha256, storeIn } from "../receipts/statement.js";
import { handleSignals } from "../run/signals.js";
import { invalid } from "../settings/limits.js";
import { endingOf, type Formatter, plural } from "../views/figures.js";
import { harmlessJson, harmlessLine } from "../views/harmless.js";
import { repositoryRoot } from "../workspace/git.js";
import { loopMeant, runOf, workerOrRun } from "./find.js";
import { failure, formatterFor, note, type PrintFlags, printAll, say } from "./output.js";
import { readStdin } from "./task-text.js";

interface VerifyFlags extends PrintFlags {
  repo?: string;
  schema?: boolean;
  hiddenCheck?: string[];
}

/** A receipt, and where it came from. */
interface Source {
  name: string;
  content: Buffer;
  signature: Buffer | undefined;
  /** A folder of the repository. */
  repository: string | undefined;
  /** Objects of git that no commit holds. */
  store: string;
}

/** `ralph verify RECEIPT|RUN`: runs the checks of a receipt again, and compares. */
export async function verify(given: string | undefined, flags: VerifyFlags): Promise<number> {
  if (flags.schema) return printAll(`${JSON.stringify(receiptSchema(), null, 2)}\n`);
  const source = await sourceOf(given, flags);
  const signed = await signatureIn(source);
  const receipt = readReceipt(source.content.toString(), source.name);
  requireWhole(source, receipt, signed);
  const { hiddenCheck: hidden = [] } = flags;
  requireKnown(hidden, receipt);
  const format = formatterFor(flags);
  let isOpen = flags.json === true;
  const open = (): void => {
    if (!isOpen) for (const line of openingLines(receipt, signed)) say(line);
    isOpen = true;
  };
  const { signals, release } = handleSignals(() => {});
  const results: RecheckResult[] = [];
  try {
    const running = recheck(receipt, {
      ...{ repository: source.repository, store: source.store, hidden, stop: signals.stop },
      tell(text) {
        open();
        note(text);
      },
    });
    for await (const one of running) {
      open();
      results.push(one);
      if (!flags.json) for (const line of resultLines(one, format)) say(line);
    }
  } finally {
    release();
  }
  const end = verdictOf(results);
  if (!flags.json) {
    say(closing(receipt, results, format));
    return end.exitCode;
  }
  return printAll(`${harmlessJson(documentOf(receipt, results, signed), 2)}\n`, end.exitCode);
}

/** Throws where the receipt is not signed as it says, or says nothing. */
function requireWhole(
  { name }: Source,
  { signer, checks }: Receipt,
  signed: ReceiptSignature | undefined,
): void {
  const fingerprint = signed?.fingerprint ?? null;
  if (signer !== null && fingerprint === null)
    throw refused(`${name} claims to be signed, but its signature is missing`);
  if (signer !== fingerprint) throw refused(`${name} was signed with a different key than it names`);
  if (checks.length === 0) throw failure("receipt_unchecked", `${name} names no check: it verifies nothing`);
}

function requireKnown(hidden: string[], { checks }: Receipt): void {
  const digests = checks.filter(({ command }) => command === null).map((check) => check.sha256);
  const strange = hidden.find((text) => !digests.includes(sha256(text)));
  if (strange !== undefined)
    throw invalid("--hidden-check", strange, "the command of a hidden check of the receipt");
}

function documentOf(
  { run, commit, tree }: Receipt,
  results: RecheckResult[],
  signer: ReceiptSignature | null = null,
) {
  const checks = results.map(({ check, now, result, why = null }) => {
    const { name, exitCode } = check;
    const is = now === undefined ? null : { passed: now.passed, exitCode: now.exitCode };
    return { name, was: { passed: true, exitCode }, now: is, result, why };
  });
  return { v: 1, run, commit: commit ?? null, tree, result: verdictOf(results).result, signer, checks };
}

function refused(what: string) {
  return failure("receipt_refused", what, undefined, 1);
}

/** A file, `-` for stdin, or the records of a run. */
async function sourceOf(given: string | undefined, { repo }: VerifyFlags): Promise<Source> {
  if (repo !== undefined && (!existsSync(repo) || repositoryRoot(repo) === undefined))
    throw failure("repo_missing", `--repo ${repo}: expected a folder of a git repository`);
  if (given === "-")
    return {
      ...{ name: "stdin", content: Buffer.from(await readStdin()), signature: undefined, store: "" },
      repository: repo ?? process.cwd(),
    };
  const isFile = given !== undefined && existsSync(given);
  if (isFile && !statSync(given).isFile()) throw failure("receipt_invalid", `${given} is not a file`);
  if (isFile) return fromFile(given, repo ?? process.cwd(), storeIn(dirname(given)));
  if (given !== undefined && /[/.]/.test(given)) throw failure("receipt_missing", `no such file: ${given}`);
  const run = runOf(given === undefined ? loopMeant(undefined, "latest") : workerOrRun(given));
  const file = receiptIn(run.path);
  if (!existsSync(file))
    throw failure("receipt_missing", `run ${run.name()} has no receipt`, "only a successful run has one");
  const { origin, workspace } = run.shown();
  const repository = repo ?? [origin, workspace].find((path) => path !== undefined && existsSync(path));
  return { ...fromFile(file, repository, storeIn(run.path)), name: `the receipt of run ${run.name()}` };
}

const MAX_BYTES = 16 * 1024 * 1024;

function fromFile(name: string, repository: string | undefined, store: string): Source {
  if (statSync(name).size > MAX_BYTES)
    throw failure("receipt_invalid", `${name} is not a receipt of ralph: too large`);
  const sig = signatureOf(name);
  const signature = existsSync(sig) ? readFileSync(sig) : undefined;
  return { name, content: readFileSync(name), signature, repository, store };
}

type ReceiptSignature = Exclude<SignatureVerdict, { refused: string }>;

/** Checked before anything in the receipt is trusted. */
async function signatureIn({
  name,
  content,
  signature,
  repository,
}: Source): Promise<ReceiptSignature | undefined> {
  if (signature === undefined) return undefined;
  const verdict = await checkSignature(content, signature, repository ?? process.cwd());
  if ("refused" in verdict) throw refused(`${name}: ${verdict.refused}`);
  return verdict;
}

function openingLines(
  { run, commit, tree, finishedAt, agent, confirmed }: Receipt,
  signed?: ReceiptSignature,
): string[] {
  const what = commit === undefined ? `tree ${tree} (not committed)` : `commit ${commit}`;
  const more = confirmed === 0 ? "" : `, confirmed ${plural(confirmed, "time")}`;
  const known = signed?.isKnown ? signed.name : "unknown key: gpg.ssh.allowedSignersFile is not set";
  return [
    harmlessLine(`Run ${run} verified ${what}`),
    harmlessLine(`at ${finishedAt}${more}; agent: ${agent.name}${agent.model ? ` (${agent.model})` : ""}`),
    signed === undefined ? "Not signed" : harmlessLine(`Signed with ${signed.fingerprint} (${known})`),
  ];
}

function resultLines({ check, now, result, why }: RecheckResult, { mark, paint }: Formatter): string[] {
  const name = harmlessLine(check.name);
  const was = `passed then (exit ${check.exitCode ?? 0})`;
  if (result === "unchecked") {
    const how = now === undefined || now.exitCode === 127 ? "not run now" : "which proves nothing now";
    return [paint("yellow", `${mark.warning} ${name}: ${was}, ${how}: ${why}`)];
  }
  const is = now && `${now.passed ? "passes" : "fails"} now (${endingOf(now)})`;
  if (result === "same") return [paint("green", `${mark.ok} ${name}: ${was}, ${is}`)];
  const said = harmlessLine(now?.output.trim().split("\n").at(-1) ?? "");
  return [paint("red", `${mark.error} ${name}: ${was}, ${is}`), ...(said === "" ? [] : [`   ${said}`])];
}

/** A difference counts most; a hidden check that did not run matters only if nothing else ran. */
function verdictOf(results: RecheckResult[]): { result: RecheckResult["result"]; exitCode: number } {
  if (results.some(({ result }) => result === "differs")) return { result: "differs", exitCode: 1 };
  const ran = results.filter(({ result }) => result === "same");
  const isMissing = ({ check, result }: RecheckResult): boolean =>
    result === "unchecked" && check.command !== null;
  if (ran.length === 0 || results.some(isMissing)) return { result: "unchecked", exitCode: 2 };
  return { result: "same", exitCode: 0 };
}

function closing({ commit, tree }: Receipt, results: RecheckResult[], { mark, paint }: Formatter): string {
  const { result } = verdictOf(results);
  const count = (wanted: RecheckResult["result"]): string =>
    plural(results.filter((one) => one.result === wanted).length, "check");
  const what = commit === undefined ? `tree ${tree.slice(0, 12)}` : `commit ${commit.slice(0, 12)}`;
  const left = results.some((one) => one.result === "unchecked") ? `; ${count("unchecked")} not run` : "";
  if (result === "same") return paint("green", `${mark.ok} The same: ${count("same")} on ${what}${left}`);
  if (result === "differs")
    return paint("red", `${mark.error} Different: ${count("differs")} on ${what}${left}`);
  return paint("yellow", `${mark.warning} Not checked: ${count("unchecked")} could not be run on ${what}`);
}
