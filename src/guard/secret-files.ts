import { findListed } from "./listed-paths.js";
import { followLinks, resolvePath } from "./paths.js";
import { SECRETS, type Secret } from "./secret-list.js";
import type { Scope } from "./shell/scope.js";

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
  return findListed(SECRETS, path, scope.place.home);
}
