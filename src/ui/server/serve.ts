import { createServer, type Server } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { systemErrorCode } from "../../errors.js";
import { allowedHosts, createDoor } from "./access.js";
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
}

export interface Serving {
  port: number;
  /** A path that lets one browser in. */
  link(): string;
  close(): void;
}

/** undefined: another program has the port. */
export async function serveDashboard({
  home,
  port,
  host,
  readOnly,
  token,
}: ServeOptions): Promise<Serving | undefined> {
  const server = createServer();
  if (!(await isListening(server, port, host))) return undefined;
  const address = server.address();
  const actual = typeof address === "object" && address !== null ? address.port : port;
  const door = createDoor(actual, token);
  const overview = overviewOf(home);
  const app = dashboard({ home, hosts: allowedHosts(host), door, readOnly, assets: readAssets(), overview });
  const listener = getRequestListener(app.fetch);
  // A browser that comes in a moment finds all runs read.
  setImmediate(() => overview.rows());
  server.on("request", (request, response) => void listener(request, response));
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { port: actual, link: () => door.link(), close };
}

function isListening(server: Server, port: number, host: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) =>
      systemErrorCode(error) === "EADDRINUSE" ? resolve(false) : reject(error),
    );
    server.listen(port, host, () => resolve(true));
  });
}
