import { createHash } from "node:crypto";
import { userInfo } from "node:os";
import { join, resolve } from "node:path";
import { RalphError } from "../errors.js";
import { type Captured, capture } from "../process/capture.js";
import { which } from "../process/which.js";
import type { TmuxPlace } from "./record.js";

/** Runs commands of one tmux server. */
export interface Tmux {
  place: TmuxPlace;
  /** Whether ralph has the server for itself. */
  isPrivate: boolean;
  run(args: string[], stdin?: string): Promise<Captured>;
}

const DEFAULT_SESSION = "ralph";

/** Without a socket of the user's own, a server that only the workers of this home live in. */
export function tmuxPlace(home: string, flags: { tmuxSocket?: string; session?: string }): TmuxPlace {
  const { tmuxSocket = privateSocket(home), session = DEFAULT_SESSION } = flags;
  const isPath = tmuxSocket.includes("/");
  return { socket: isPath ? ["-S", resolve(tmuxSocket)] : ["-L", tmuxSocket], session };
}

export function tmuxAt(home: string, place: TmuxPlace): Tmux {
  const isPrivate = place.socket[1] === privateSocket(home);
  const own = isPrivate ? ["-f", "/dev/null"] : [];
  return {
    place,
    isPrivate,
    run: (args, stdin) =>
      capture(
        {
          file: "tmux",
          args: [...place.socket, ...own, "-u", ...args],
          cwd: "/",
          env: serverEnvironment(),
          ...(stdin !== undefined && { stdin }),
        },
        { timeoutMs: TMUX_MS },
      ),
  };
}

const TMUX_MS = 20_000;

function privateSocket(home: string): string {
  // A server belongs to a user, and one user may have several homes.
  if (home === join(userInfo().homedir, ".ralph")) return "ralph";
  return `ralph-${createHash("sha256").update(home).digest("hex").slice(0, 10)}`;
}

/** A server lives long and hands its environment to every window: it gets nothing that is anybody's secret. */
function serverEnvironment(): NodeJS.ProcessEnv {
  const names = [
    "HOME",
    "PATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "SHELL",
    "USER",
    "LOGNAME",
    "TMUX_TMPDIR",
    "TZ",
  ];
  const kept = names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  return {
    ...(Object.fromEntries(kept) as NodeJS.ProcessEnv),
    TERM: process.env["TERM"] || "xterm-256color",
  };
}

export function requireTmux(): void {
  if (which("tmux", "/").status === "found") return;
  throw new RalphError("tmux is not installed: a worker lives in a window of tmux", {
    code: "tmux_missing",
    hint: "apt install tmux, dnf install tmux, or brew install tmux",
  });
}

export interface WindowRequest {
  name: string;
  /** Program and arguments. */
  command: string[];
}

/** How often a session that ends, or a server that starts, at the same moment is tried again. */
const TRIES = 10;

/** Opens a window and returns the id of its pane. Several may do so at once. */
export async function openWindow(tmux: Tmux, request: WindowRequest): Promise<string> {
  let said = "";
  for (let tries = 0; tries < TRIES; tries += 1) {
    for (const args of [windowIn(tmux, request), sessionFor(tmux, request)]) {
      const { ok, stdout, stderr, spawnError } = await tmux.run(args);
      if (ok && stdout.startsWith("%")) return await named(tmux, stdout.trim(), request.name);
      said = spawnError?.message ?? stderr.trim();
    }
  }
  throw new RalphError(`tmux could not open a window: ${said}`, { code: "tmux_failed", exitCode: 1 });
}

function windowIn({ place }: Tmux, { name, command }: WindowRequest): string[] {
  return ["new-window", "-d", "-P", "-F", "#{pane_id}", "-t", `=${place.session}:`, "-n", name, ...command];
}

/** Of a size in which a program looks as in a terminal; whoever attaches brings another one. */
function sessionFor({ place, isPrivate }: Tmux, { name, command }: WindowRequest): string[] {
  const first = ["new-session", "-d", "-P", "-F", "#{pane_id}", "-s", place.session, "-n", name];
  return [...(isPrivate ? PRIVATE_OPTIONS : []), ...first, "-x", "160", "-y", "48", ...command];
}

const PRIVATE_OPTIONS = [
  ["start-server"],
  ["set-option", "-g", "history-limit", "20000"],
  ["set-option", "-g", "status-left-length", "40"],
  ["set-option", "-g", "status-right", "detach: Ctrl-B D"],
  ["set-option", "-g", "mouse", "on"],
].flatMap((words) => [...words, ";"]);

/** Option of a pane that says which worker it belongs to; ids of tmux begin anew with its server. */
const WORKER_OPTION = "@ralph_worker";

async function named(tmux: Tmux, pane: string, name: string): Promise<string> {
  await markPane(tmux, pane, name);
  await tmux.run(["set-option", "-w", "-t", pane, "allow-rename", "off"]);
  await tmux.run(["set-option", "-w", "-t", pane, "automatic-rename", "off"]);
  await tmux.run(["set-option", "-w", "-t", pane, "remain-on-exit", "off"]);
  return pane;
}

export async function markPane(tmux: Tmux, pane: string, name: string): Promise<void> {
  await tmux.run(["set-option", "-p", "-t", pane, WORKER_OPTION, name]);
}

export interface Pane {
  pane: string;
  window: string;
}

/** The panes of a worker: its loop's, and its agent's while that has a terminal of its own. */
export async function panesOf(tmux: Tmux, name: string): Promise<Pane[]> {
  const format = [`#{${WORKER_OPTION}}`, "#{pane_id}", "#{window_id}"];
  const { stdout } = await tmux.run(["list-panes", "-a", "-F", format.join("\t")]);
  const rows = stdout.split("\n").map((line) => line.split("\t"));
  return rows.flatMap(([worker, pane = "", window = ""]) => (worker === name ? [{ pane, window }] : []));
}
