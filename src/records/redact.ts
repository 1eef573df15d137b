import { closeSync, writeFileSync } from "node:fs";
import { describeSystemError } from "../errors.js";
import { openFresh } from "./files.js";

/** Replaces secrets in text. Must not throw. */
export type Redact = (text: string) => string;

const REPLACEMENT = "[redacted]";
const SECRET_NAME =
  /(SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|API_?KEY|COOKIE)(_|$)|(^|_)(KEY|PAT)(_|$)|_(PWD|PASS|AUTH)$|^SSHPASS$/i;
const MIN_SECRET_LENGTH = 8;

/** Tokens that are recognised wherever they come from. */
const TOKEN_SHAPES = [
  "sk-[A-Za-z0-9_-]{20,}",
  "sk_(?:live|test)_[A-Za-z0-9]{16,}",
  "gh[pousr]_[A-Za-z0-9]{30,}",
  "github_pat_[A-Za-z0-9_]{30,}",
  "glpat-[A-Za-z0-9_-]{20,}",
  "npm_[A-Za-z0-9]{30,}",
  "sgamp_[A-Za-z0-9_-]{16,}",
  "xox[abeprs]-[A-Za-z0-9-]{10,}",
  "A(?:KIA|SIA)[A-Z0-9]{16}",
  "AIza[A-Za-z0-9_-]{35}",
  "eyJ[A-Za-z0-9_-]{10,}\\.eyJ[A-Za-z0-9_-]{10,}\\.[A-Za-z0-9_-]{10,}",
];
/** The password in an address. */
const PASSWORD = "(?<=://[^\\s/:@]{0,64}:)[^\\s/@]{3,}(?=@)|(?<=[?&]password=)[^\\s&\"']{3,}";
/** The same, in a form that is quick to rule out: it begins with the address. */
const ADDRESS = "://[^\\s/:@]{0,64}:[^\\s/@]{3,}@";
/** Words that are quicker to find as text than in an expression. */
const BEFORE_PASSWORD = ["?password=", "&password="];

/**
 * Hides the values of secret-looking variables, anything that has the shape of a known token, and what the
 * caller knows to be secret.
 */
export function createRedactor(env: NodeJS.ProcessEnv, known: string[] = []): Redact {
  const long = known.filter(({ length }) => length >= MIN_SECRET_LENGTH);
  const values = new Set([...secretVariables(env).map(([, value]) => value), ...long].flatMap(formsOf));
  const longestFirst = [...values].sort((a, b) => b.length - a.length);
  const own = longestFirst.map(anyEscape);
  const shapes = `(?<![A-Za-z0-9])(?:${[...TOKEN_SHAPES, PASSWORD].join("|")})`;
  const pattern = new RegExp([...own, shapes].join("|"), "g");
  // Looking behind at every character takes four times as long, and nearly all texts hold no secret.
  const suspicion = new RegExp([...own, ...TOKEN_SHAPES, ADDRESS].join("|"));
  const isSuspicious = (text: string): boolean =>
    suspicion.test(text) || BEFORE_PASSWORD.some((word) => text.includes(word));
  return (text) => (isSuspicious(text) ? text.replace(pattern, REPLACEMENT) : text);
}

/** The same value with every string in it changed. */
export function redactDeep<T>(value: T, redact: Redact): T {
  if (typeof value === "string") return redact(value) as T;
  if (Array.isArray(value)) return value.map((item) => redactDeep(item, redact)) as T;
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).map(([key, item]) => [key, redactDeep(item, redact)]);
  return Object.fromEntries(entries) as T;
}

/** Variables that hold secrets, the longest value first. */
function secretVariables(env: NodeJS.ProcessEnv): [name: string, value: string][] {
  return Object.entries(env)
    .map(([name, value = ""]): [string, string] => [name, value])
    .filter(([name, { length }]) => length >= MIN_SECRET_LENGTH && SECRET_NAME.test(name))
    .sort(([, a], [, b]) => b.length - a.length);
}

/** Puts the name of its variable in the place of each secret, so that it can be put back later. */
export function nameSecrets(env: NodeJS.ProcessEnv): Redact {
  const variables = secretVariables(env);
  return (text) => variables.reduce((all, [name, value]) => all.replaceAll(value, `[secret:${name}]`), text);
}

/** Puts the secrets back. A variable that is not set any more stays a name. */
export function revealSecrets(env: NodeJS.ProcessEnv): Redact {
  return (text) => text.replace(/\[secret:(\w+)\]/g, (whole, name: string) => env[name] ?? whole);
}

/** A secret as it is, and as the bytes of a log; of a key in several lines, each line. */
function formsOf(value: string): string[] {
  const lines = value
    .split(/\r?\n/)
    .filter((line) => line.length >= MIN_SECRET_LENGTH && !line.startsWith("-----"));
  return [value, ...(lines.length > 1 ? lines : [])].flatMap((form) => [
    form,
    Buffer.from(form).toString("latin1"),
  ]);
}

const SHORT: Record<string, string> = { "\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f" };

/**
 * A pattern for a text as it is, and as JSON of any language has it: `&` may be `\u0026`, `/` may be `\/`, and JSON
 * within JSON has more backslashes.
 */
function anyEscape(text: string): string {
  return text.replace(/[^A-Za-z0-9_]/g, (unit) => {
    const hex = unit.charCodeAt(0).toString(16).padStart(4, "0");
    const itself = unit.replace(/[.*+?^${}()|[\]\\/-]/, "\\$&");
    const short = SHORT[unit] ?? (/["'\\/]/.test(unit) ? itself : undefined);
    const code = `u${hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)}`;
    // The longest first: a backslash begins the others.
    return `(?:\\\\{1,8}${code}|${short === undefined ? "" : `\\\\{1,8}${short}|`}${itself})`;
  });
}

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
