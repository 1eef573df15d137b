import { readFileSync, statSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import { capture } from "../process/run.js";
import { which } from "../process/which.js";
import { refuseSpecialFile } from "../records/files.js";
import { ralphHome } from "../records/home.js";
import { invalid, wholeNumber } from "../settings/limits.js";
import { inUrl, isLoopback, namesOf } from "../ui/server/access.js";
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
  const { readOnly = false } = flags;
  const host = (flags.host ?? HOST).replace(/^\[(.*)\]$/, "$1");
  const asked = wholeNumber("--port", flags.port ?? PORT, 0, HIGHEST_PORT);
  const token = tokenFrom(flags.tokenFile);
  if (!isLoopback(host) && token === undefined)
    throw failure(
      "token_missing",
      `--host ${host} lets other machines in, which needs --token-file`,
      "put a long secret into a file and name it, or leave --host out",
    );
  const ended = signalled();
  const { serveDashboard } = await import("../ui/server/serve.js");
  // Each link lets one browser in: for the next one there is another.
  const onEntered = () => void note(`a browser was let in; this link is for another one: ${linkOf()}`);
  const serving = await serveDashboard({ home: ralphHome(), port: asked, host, readOnly, token, onEntered });
  const { port } = serving;
  const at = (name: string): string => `http://${name}:${port}`;
  const isOnAll = host === "0.0.0.0" || host === "::";
  const linkOf = (): string => `${at(isOnAll ? "127.0.0.1" : inUrl(host))}${serving.link()}`;
  const link = linkOf();
  say(link);
  note(
    `the link opens ${readOnly ? "the dashboard, read-only," : "the dashboard"} once, in one browser; Ctrl+C ends it`,
  );
  if (token !== undefined)
    note(`other browsers enter with the token at ${at(namesOf(host)[0] ?? host)}/enter`);
  const there = `${userInfo().username}@${hostname()}`;
  if (process.env["SSH_CONNECTION"]) note(`from your own machine: ssh -L ${port}:127.0.0.1:${port} ${there}`);
  else if (flags.open !== false) await openBrowser(link);
  const copies = import("../fleet/jobs.js").then(({ copyFleet }) => copyFleet());
  copies.catch(({ message }: Error) => note(`the runs of the fleet are not shown: ${message}`));
  await ended;
  void copies.then((end) => end()).catch(() => {});
  serving.close();
  return 0;
}

function tokenFrom(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  refuseSpecialFile(file);
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat?.isFile()) throw invalid("--token-file", file, "a file that is there");
  const token = readFileSync(file, "utf8").trim();
  if (token.length < TOKEN_CHARS)
    throw invalid("--token-file", file, `a secret of at least ${TOKEN_CHARS} characters in it`);
  if ((stat.mode & 0o077) !== 0) note(`others on this machine can read ${file}: chmod 600 ${file}`);
  return token;
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
  if (!ok) note("the browser did not start: open the link by hand");
}

const OPEN_MS = 5000;

function signalled(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve());
  });
}
