import { fits, followLinks, hasPattern, type Pattern, partsOf, patternOf, resolvePath } from "./paths.js";
import { GROUPS } from "./secret-list.js";
import type { Scope } from "./shell/scope.js";

export interface Secret {
  what: string;
  /** Often there and often harmless: worth a warning. */
  isMild: boolean;
}

/** Certificates and public keys are no secrets. */
const PUBLIC =
  /(\.pub|known_hosts.*|authorized_keys|.*(cert|chain|ca-?bundle|public|pubkey|cacert|root-?ca)[^/]*\.(pem|crt)|ca\.pem|(^|\/)certs?\/(?![^/]*(key|priv))[\w.-]+\.(pem|crt))$/i;

/** The secret that a path names, if it names one. */
export function secretAt(path: string, scope: Pick<Scope, "cwd" | "place">): Secret | undefined {
  if (path.length > LONGEST || path === "~/.ssh/config") return undefined;
  const found = foundAt(path, scope);
  return found === undefined || PUBLIC.test(path) ? undefined : found;
}

function foundAt(path: string, scope: Pick<Scope, "cwd" | "place">): Secret | undefined {
  const named = resolvePath(path, scope);
  const found = listed(named, scope);
  if (found !== undefined || named.length > LONGEST) return found;
  const real = named.includes("/") ? followLinks(named) : named;
  return real === named ? undefined : listed(real, scope);
}

const LONGEST = 1000;

function listed(path: string, scope: Pick<Scope, "cwd" | "place">): Secret | undefined {
  const lower = path.toLowerCase();
  const isPattern = hasPattern(path);
  const near = known().filter(({ sign }) => isPattern || lower.includes(sign));
  if (near.length === 0) return undefined;
  const names = partsOf(path);
  const found = near.find(({ pattern }) => fits(names, compiled(pattern, scope.place.home)));
  return found && { what: found.what, isMild: found.isMild };
}

interface Known extends Secret {
  pattern: string;
  /** A text that stands in every path that fits: most paths have none of them, and need no closer look. */
  sign: string;
}

let all: Known[] | undefined;

function known(): Known[] {
  all ??= GROUPS.flatMap(({ what, isMild = false, patterns }) =>
    patterns.map((pattern) => ({ what, isMild, pattern, sign: signOf(pattern) })),
  );
  return all;
}

function signOf(pattern: string): string {
  let longest = "";
  for (const piece of pattern.toLowerCase().split("*")) if (piece.length > longest.length) longest = piece;
  return longest.replace("~", "").replace(/\/$/, "");
}

const byHome = new Map<string, Pattern>();

function compiled(pattern: string, home: string): Pattern {
  const key = `${home}\n${pattern}`;
  const made = byHome.get(key) ?? patternOf(pattern, home);
  byHome.set(key, made);
  return made;
}
