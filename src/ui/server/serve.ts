import { createServer, type Server, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { RalphError, systemErrorCode } from "../../errors.js";
import { allowedHosts, createDoor, refusalOf } from "./access.js";
import { dashboard } from "./app.js";
import { readAssets } from "./assets.js";
import { overviewOf } from "./overview.js";

export interface ServeOptions {
  home: string;
  port: number;
  host: string;
  readOnly: boolean;
  /** What lets people in beside the one-time link. */
  token?: string | undefined;
  /** A browser was let in. */
  onEntered?: () => void;
}

export interface ServerHandle {
  port: number;
  /** A path that lets one browser in. */
  link(): string;
  close(): void;
}

/** Only what comes with ralph may run, load or be shown; nothing is inline, and nobody may put it into a frame. */
const POLICY = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'"],
  ...["manifest-src 'self'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'"],
  "require-trusted-types-for 'script'",
].join("; ");

/** Of every answer, whatever it is. */
const HEADERS = {
  "Content-Security-Policy": POLICY,
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  // With none at all a browser would not say which page a form is sent from.
  "Referrer-Policy": "same-origin",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cache-Control": "no-store",
};

/** A request has to arrive in this time: slow ones must not hold up others. The host is asked for below. */
const PATIENCE = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5000,
  requireHostHeader: false,
};

export async function serveDashboard(options: ServeOptions): Promise<ServerHandle> {
  const { home, host, readOnly, token, onEntered } = options;
  const server = createServer(PATIENCE).on("clientError", refuseUnread);
  const port = await portOf(server, options);
  const door = createDoor(port, token, onEntered);
  const overview = overviewOf(home);
  const hosts = allowedHosts(host);
  const answer = getRequestListener(
    dashboard({ home, door, readOnly, assets: readAssets(), overview }).fetch,
  );
  server.on("request", (request, response) => {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    const refusal = refusalOf(request, hosts);
    if (refusal === undefined) return void answer(request, response);
    response.writeHead(403, { "Content-Type": "text/plain; charset=utf-8", Connection: "close" });
    response.end(`${refusal}\n`);
  });
  // A browser that comes in a moment finds all runs read.
  setImmediate(() => overview.rows());
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { port, link: () => door.link(), close };
}

/** What is no request at all, too long, or too slow. */
function refuseUnread(error: NodeJS.ErrnoException, socket: Socket): void {
  const codes: Record<string, number> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };
  const status = codes[error.code ?? ""] ?? 400;
  const headers = Object.entries({ ...HEADERS, Connection: "close" }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  if (socket.writable)
    socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...headers, "", ""].join("\r\n"));
  else socket.destroy();
}

/** Why a server cannot listen, and what to do. */
const UNABLE: Record<string, [why: string, hint: string]> = {
  EADDRINUSE: ["is taken", "another ralph ui may have it; --port 0 takes a free one"],
  EACCES: ["is not for everybody", "choose a port above 1023, or --port 0"],
  EADDRNOTAVAIL: ["cannot be had: this machine has no such address", "choose another --host"],
  ENOTFOUND: ["cannot be had: nobody knows this name", "choose another --host"],
};

function portOf(server: Server, { port, host }: ServeOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => {
      const [why, hint] = UNABLE[systemErrorCode(error) ?? ""] ?? [`cannot be had: ${error.message}`, ""];
      reject(new RalphError(`port ${port} of ${host} ${why}`, { code: "port_taken", hint, cause: error }));
    });
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}
