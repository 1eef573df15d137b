/** Replaces secrets in text. Must not throw. */
export type Redact = (text: string) => string;

const REPLACEMENT = "[redacted]";
const SECRET_NAME = /(^|_)(API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|PAT)(_|$)/i;
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

/** Hides the values of secret-looking variables and anything that has the shape of a known token. */
export function createRedactor(env: NodeJS.ProcessEnv): Redact {
  const values = secretValues(env).flatMap((value) => [value, JSON.stringify(value).slice(1, -1)]);
  const longestFirst = [...new Set(values)].sort((a, b) => b.length - a.length);
  const pattern = new RegExp([...longestFirst.map(escapeRegExp), ...TOKEN_SHAPES].join("|"), "g");
  return (text) => text.replace(pattern, REPLACEMENT);
}

/** The same value with every string in it redacted. */
export function redactDeep<T>(value: T, redact: Redact): T {
  if (typeof value === "string") return redact(value) as T;
  if (Array.isArray(value)) return value.map((item) => redactDeep(item, redact)) as T;
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).map(([key, item]) => [key, redactDeep(item, redact)]);
  return Object.fromEntries(entries) as T;
}

function secretValues(env: NodeJS.ProcessEnv): string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && value.length >= MIN_SECRET_LENGTH && SECRET_NAME.test(name) ? [value] : [],
  );
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
}
