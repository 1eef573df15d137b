import { existsSync, readFileSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import { capture } from "../process/capture.js";
import { which } from "../process/which.js";
import { ralphHome } from "../records/home.js";
import { invalid, wholeNumber } from "../settings/limits.js";
import { isLoopback } from "../ui/server/access.js";
import { failure, note, say } from "./output.js";

interface UiFlags {
  port?: string;
  host?: string;
  readOnly?: boolean;
  open?: boolean;
  tokenFile?: string;
}

const PORT = "7171";
const HOST = "127.0.0.1";
const HIGHEST_PORT = 65_535;
/** Shorter, and it could be guessed. */
const TOKEN_CHARS = 16;

/** `ralph ui`: serves the dashboard until Ctrl+C. It touches no run by itself. */
export async function ui(flags: UiFlags): Promise<number> {
  const { host = HOST, readOnly = false } = flags;
  const port = flags.port === "0" ? 0 : wholeNumber("--port", flags.port ?? PORT, 1);
  if (port > HIGHEST_PORT) throw invalid("--port", String(port), `a number up to ${HIGHEST_PORT}`);
  const token = tokenFrom(flags.tokenFile);
  if (!isLoopback(host) && token === undefined)
    throw failure(
      "token_missing",
      `--host ${host} lets other machines in, and there is no --token-file`,
      "put a long secret into a file of your own and name it, or leave --host out",
    );
  const { serveDashboard } = await import("../ui/server/serve.js");
  const serving = await serveDashboard({ home: ralphHome(), port, host, readOnly, token });
  if (serving === undefined)
    throw failure(
      "port_taken",
      `port ${port} of ${host} is taken`,
      `another ralph ui may have it; choose another one: ralph ui --port ${port + 1}`,
    );
  const endCopies = await (await import("./fleet-engine.js")).copyFleet();
  const ended = signalled();
  const shown = isLoopback(host) || host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  const url = `http://${shown.includes(":") ? `[${shown}]` : shown}:${serving.port}`;
  say(`${url}${serving.link()}`);
  note(
    `the link opens ${readOnly ? "the dashboard, read-only," : "the dashboard"} once, in one browser; Ctrl+C ends it`,
  );
  if (token !== undefined) note(`other browsers enter with the token at ${url}/enter`);
  if (process.env["SSH_CONNECTION"]) note(`from your own machine: ${tunnel(serving.port)}`);
  else if (flags.open !== false) await openBrowser(`${url}${serving.link()}`);
  await ended;
  endCopies();
  serving.close();
  return 0;
}

function tokenFrom(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  if (!existsSync(file)) throw invalid("--token-file", file, "a file that is there");
  const token = readFileSync(file, "utf8").trim();
  if (token.length >= TOKEN_CHARS) return token;
  throw invalid("--token-file", file, `a secret of at least ${TOKEN_CHARS} characters in it`);
}

function tunnel(port: number): string {
  return `ssh -L ${port}:127.0.0.1:${port} ${userInfo().username}@${hostname()}`;
}

/** Without a screen there is no browser. */
async function openBrowser(url: string): Promise<void> {
  const isMac = process.platform === "darwin";
  const hasScreen = isMac || process.env["DISPLAY"] || process.env["WAYLAND_DISPLAY"];
  const program = hasScreen ? which(isMac ? "open" : "xdg-open", "/") : undefined;
  if (program?.status !== "found") return void note("no browser was found here: open the link yourself");
  const { ok } = await capture(
    { file: program.path, args: [url], cwd: "/", env: process.env },
    { timeoutMs: OPEN_MS },
  );
  if (!ok) note("the browser did not start: open the link yourself");
}

const OPEN_MS = 5000;

function signalled(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve());
  });
}
