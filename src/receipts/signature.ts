import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { RalphError } from "../errors.js";
import { type Capture, capture } from "../process/run.js";
import { git, quietEnvironment } from "../workspace/git.js";

/** Receipts are signed with ssh keys, as git signs commits. */
const NAMESPACE = "ralph-receipt";
const TIMEOUT_MS = 20_000;

export interface SigningKey {
  /** A file with the key, or the text of a public key whose private part an agent of ssh has. */
  source: { file: string } | { text: string };
  fingerprint: string;
}

const LITERAL = /^(?:key::)?((?:ssh-|ecdsa-|sk-)\S+ \S+.*)$/;

/** The key that git would sign with, or the first one of `~/.ssh`. It has signed something, so that it will again. */
export async function signingKey(workspace: string): Promise<SigningKey> {
  const source = await sourceOf(workspace);
  if (source === undefined)
    throw new RalphError("--sign: there is no ssh key to sign with", {
      code: "key_missing",
      hint: "name one: git config --global user.signingkey ~/.ssh/KEY; or create one: ssh-keygen -t ed25519",
    });
  return inFolder(async (folder) => {
    const told = await keygen(["-l", "-f", keyFile(source, folder)], folder);
    const fingerprint = /SHA256:\S+/.exec(told.stdout)?.[0];
    if (!told.ok || fingerprint === undefined) throw unusable(told);
    const trial = join(folder, "trial");
    writeFileSync(trial, "");
    await signWith({ source, fingerprint }, trial);
    return { source, fingerprint };
  });
}

async function sourceOf(workspace: string): Promise<SigningKey["source"] | undefined> {
  const named = await setting(workspace, ["user.signingkey"]);
  const text = LITERAL.exec(named ?? "")?.[1];
  if (text !== undefined) return { text };
  const file = named?.replace(/^~(?=\/)/, homedir());
  // Where git signs with something else, it is the name of another key.
  if (file !== undefined && existsSync(file)) return { file };
  // The command of a project is nothing that ralph runs.
  const command = await setting(workspace, ["--global", "gpg.ssh.defaultKeyCommand"]);
  if (command !== undefined) {
    const shell = { file: "/bin/sh", args: ["-c", command], cwd: homedir(), env: quietEnvironment() };
    const said = (await capture(shell, { timeoutMs: TIMEOUT_MS })).stdout.split("\n", 1)[0] ?? "";
    const key = LITERAL.exec(said.trim())?.[1];
    if (key !== undefined) return { text: key };
  }
  const folder = join(homedir(), ".ssh");
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => /^id_\w+$/.test(name)) : [];
  const best = ["id_ed25519", "id_ecdsa"].find((name) => names.includes(name)) ?? names.sort()[0];
  return best === undefined ? undefined : { file: join(folder, best) };
}

async function setting(workspace: string, words: string[]): Promise<string | undefined> {
  const { ok, stdout } = await git(workspace, ["config", "--get", ...words]);
  return ok ? stdout.trim() || undefined : undefined;
}

function keyFile(source: SigningKey["source"], folder: string): string {
  if ("file" in source) return source.file;
  const file = join(folder, "key.pub");
  writeFileSync(file, `${source.text}\n`, { mode: 0o600 });
  return file;
}

export function signatureOf(receipt: string): string {
  return `${receipt}.sig`;
}

/** Writes the signature of a file beside it. */
export async function signWith(key: SigningKey, file: string): Promise<void> {
  rmSync(signatureOf(file), { force: true });
  await inFolder(async (folder) => {
    const said = await keygen(
      ["-Y", "sign", "-n", NAMESPACE, "-f", keyFile(key.source, folder), file],
      folder,
    );
    if (!said.ok) throw unusable(said);
    chmodSync(signatureOf(file), 0o600);
  });
}

/** Who signed, or why the signature does not count. `isKnown`: somebody vouches for the key. */
export type SignatureVerdict = { fingerprint: string; isKnown: boolean; name?: string } | { refused: string };

/** `ssh-keygen` reads over other bytes between the lines. */
const SIGNATURE = /^-----BEGIN SSH SIGNATURE-----\n(?:[A-Za-z0-9+/]+={0,2}\n)+-----END SSH SIGNATURE-----\n$/;

export async function checkSignature(
  content: Buffer,
  signature: Buffer,
  repository: string,
): Promise<SignatureVerdict> {
  const allowed = await setting(repository, ["--type=path", "gpg.ssh.allowedSignersFile"]);
  return inFolder(async (folder) => {
    const file = join(folder, "receipt.sig");
    writeFileSync(file, signature);
    const about = ["-n", NAMESPACE, "-s", file];
    const intact = await keygen(["-Y", "check-novalidate", ...about], folder, content);
    const isAsWritten = SIGNATURE.test(signature.toString("latin1"));
    const fingerprint = /SHA256:\S+/.exec(intact.stdout)?.[0];
    if (!isAsWritten || !intact.ok || fingerprint === undefined)
      return { refused: "the receipt or its signature was changed after it was signed" };
    if (allowed === undefined) return { fingerprint, isKnown: false };
    if (!existsSync(allowed)) return { refused: `gpg.ssh.allowedSignersFile is missing: ${allowed}` };
    const found = await keygen(["-Y", "find-principals", "-s", file, "-f", allowed], folder);
    const [name] = found.stdout.split("\n").filter(Boolean);
    if (!found.ok || name === undefined) return { refused: whyUnknown(fingerprint, allowed) };
    const trusted = await keygen(["-Y", "verify", ...about, "-f", allowed, "-I", name], folder, content);
    if (!trusted.ok) return { refused: whyUnknown(fingerprint, allowed) };
    return { fingerprint, isKnown: true, name };
  });
}

/** What is wrong with a signer that ssh-keygen does not accept. */
function whyUnknown(fingerprint: string, allowed: string): string {
  const lines = readFileSync(allowed, "utf8").split("\n");
  const line = lines.find((one) => fingerprintIn(one) === fingerprint);
  if (line === undefined) return `its signer is unknown: ${fingerprint} is not in ${allowed}`;
  const until = /valid-before="?([\w]+)"?/i.exec(line)?.[1];
  if (until !== undefined && isPast(until))
    return `the key of its signer has expired: ${fingerprint} was valid before ${until}`;
  return `the key of its signer may not sign receipts: ${fingerprint} in ${allowed}`;
}

function fingerprintIn(line: string): string | undefined {
  const blob = /(?:^|\s)(?:ssh-|ecdsa-|sk-)\S+\s+([A-Za-z0-9+/]+=*)/.exec(line)?.[1];
  if (blob === undefined || line.trimStart().startsWith("#")) return undefined;
  const digest = createHash("sha256").update(Buffer.from(blob, "base64")).digest("base64");
  return `SHA256:${digest.replace(/=+$/, "")}`;
}

/** `20260131`, `202601311200`, `20260131120000Z` */
function isPast(time: string): boolean {
  const digits = time.replace(/\D/g, "").padEnd(14, "0");
  const now = new Date().toISOString().replace(/\D/g, "").slice(0, 14);
  return digits < now;
}

function unusable({ stderr, stdout, spawnError }: Capture): RalphError {
  const said = (stderr || stdout || spawnError?.message || "ssh-keygen failed").trim().split("\n").at(-1);
  return new RalphError(`--sign: the ssh key cannot sign: ${said}`, {
    code: "key_unusable",
    hint: "a key with a passphrase has to be in ssh-agent: ssh-add",
  });
}

/** A passphrase cannot be asked for: nobody may be watching. */
function keygen(args: string[], folder: string, stdin?: Buffer): Promise<Capture> {
  const env = { ...quietEnvironment(), SSH_ASKPASS_REQUIRE: "never", LC_ALL: "C" };
  const command = { file: "ssh-keygen", args, cwd: folder, env, stdin: stdin ?? "" };
  return capture(command, { timeoutMs: TIMEOUT_MS });
}

async function inFolder<Result>(use: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), "ralph-sign-"));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
