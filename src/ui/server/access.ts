import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { hostname, networkInterfaces } from "node:os";

/**
 * Who may ask. Any page in a browser can send requests to this machine, and any name can lead to it: so the name that
 * was asked for, the page that asks and the cookie have to be right.
 */

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

export function isLoopback(host: string): boolean {
  return LOOPBACK.includes(host) || host === "::1";
}

/** Names that this server may be asked for by. */
export function allowedHosts(host: string): Set<string> {
  const all = host === "0.0.0.0" || host === "::";
  const addresses = Object.values(networkInterfaces()).flatMap((list) =>
    (list ?? []).map(({ address }) => address),
  );
  const own = all ? [hostname(), `${hostname()}.local`, ...addresses] : [host];
  return new Set([
    ...LOOPBACK,
    ...own.map((name) => (name.includes(":") ? `[${name}]` : name).toLowerCase()),
  ]);
}

/** `localhost:7171` is `localhost`. */
function nameIn(host: string): string {
  return host.replace(/:\d+$/, "").toLowerCase();
}

export interface Asking {
  method: string;
  host: string | undefined;
  origin: string | undefined;
  /** What the browser says of the page that asks. */
  site: string | undefined;
}

/** Why a request is refused before anybody looks at what it wants. */
export function refusalOf({ method, host, origin }: Asking, hosts: Set<string>): string | undefined {
  if (host === undefined || !hosts.has(nameIn(host))) return "this name does not lead here";
  const isOwn = origin === `http://${host}` || origin === `https://${host}`;
  if (origin !== undefined && !isOwn) return "a page of another site may not ask";
  if (method !== "GET" && method !== "HEAD" && !isOwn) return "only the dashboard's own page may write";
  return undefined;
}

/** Requests for data come from the page itself; only a page as a whole may be opened from elsewhere. */
export function isForeign({ site }: Pick<Asking, "site">): boolean {
  return site !== undefined && site !== "same-origin" && site !== "none";
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

function isSame(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

const newSecret = (): string => randomBytes(24).toString("base64url");

/** Links that open the dashboard once, and the browsers that were let in. Both end with the server. */
export function createDoor(port: number, token: string | undefined) {
  const links = new Set<string>();
  const sessions = new Set<string>();
  // Cookies do not tell ports apart.
  const cookie = `ralph_${port}`;
  const letIn = (): string => {
    const session = newSecret();
    sessions.add(session);
    return `${cookie}=${session}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${MAX_AGE_S}`;
  };
  return {
    /** The path of a new link. */
    link(): string {
      const secret = newSecret();
      links.add(secret);
      return `/enter/${secret}`;
    },
    /** The cookie for who has a link; undefined: it was used, or never made. */
    enter(secret: string): string | undefined {
      const found = [...links].find((link) => isSame(link, secret));
      if (found === undefined) return undefined;
      links.delete(found);
      return letIn();
    },
    /** The same with the token of `--token-file`. */
    enterWith(given: string): string | undefined {
      return token !== undefined && isSame(token, given) ? letIn() : undefined;
    },
    takesToken: token !== undefined,
    isIn(header: string | undefined): boolean {
      const given = (header ?? "").split(/;\s*/).find((part) => part.startsWith(`${cookie}=`));
      const secret = given?.slice(cookie.length + 1) ?? "";
      return secret !== "" && [...sessions].some((session) => isSame(session, secret));
    },
  };
}

const MAX_AGE_S = 30 * 24 * 3600;

export type Door = ReturnType<typeof createDoor>;
