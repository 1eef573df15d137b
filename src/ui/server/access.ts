import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isIPv4, isIPv6 } from "node:net";
import { hostname, networkInterfaces } from "node:os";

/**
 * Who may ask. Any page in a browser can send requests to this machine, and any name can lead to it: so the name that
 * was asked for, the page that asks and the cookie have to be right.
 */

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));
}

/** An address as it stands in a URL. */
export function inUrl(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}

/** Of all addresses, or of one: the names that lead to this machine. */
export function namesOf(host: string): string[] {
  if (host !== "0.0.0.0" && host !== "::") return [inUrl(host)];
  const addresses = Object.values(networkInterfaces()).flatMap((list = []) =>
    list.filter(({ internal }) => !internal).map(({ address }) => inUrl(address)),
  );
  return [...addresses, hostname(), `${hostname()}.local`];
}

/** Names that this server may be asked for by. */
export function allowedHosts(host: string): Set<string> {
  return new Set([...LOOPBACK, ...namesOf(host)].map((name) => name.toLowerCase()));
}

/** `localhost:7171` is `localhost`. A tunnel may have another port than the server. */
function nameIn(host: string): string {
  return host.replace(/:\d+$/, "").toLowerCase();
}

/** Why a request is refused before anything else of it counts. */
export function refusalOf(request: IncomingMessage, hosts: Set<string>): string | undefined {
  const { method = "", url = "", headers, headersDistinct } = request;
  const host = headersDistinct["host"]?.join(" ") ?? "";
  // A whole URL could name another host than the header.
  if (!hosts.has(nameIn(host)) || !url.startsWith("/")) return "this name does not lead here";
  const { origin, "sec-fetch-site": site = "none", "sec-fetch-mode": mode } = headers;
  const isOwn = origin === `http://${host}` || origin === `https://${host}`;
  // Pages of others may lead here. They may neither load nor send anything.
  const isForeign = site !== "none" && site !== "same-origin" && mode !== "navigate";
  if (isForeign || (origin !== undefined && !isOwn)) return "a page of another site may not ask";
  if (method !== "GET" && method !== "HEAD" && !isOwn) return "only the dashboard's own page may write";
  return undefined;
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

function isSame(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

const newSecret = (): string => randomBytes(24).toString("base64url");

/** Links that open the dashboard once, and the browsers that were let in. Both end with the server. */
export function createDoor(port: number, token?: string, onEntered?: () => void) {
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
      onEntered?.();
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
