import { createHash } from "node:crypto";
import { userInfo } from "node:os";
import { join, resolve } from "node:path";
import { RalphError } from "../errors.js";
import { type Capture, capture } from "../process/run.js";
import { which } from "../process/which.js";
import type { TmuxSession } from "./files.js";

export interface Tmux {
  session: string;
  /** The words before every command: server and configuration. */
  words: string[];
  run(args: string[], stdin?: string): Promise<Capture>;
}

/** By default, a server for the workers of this home only. */
export function tmuxSession(home: string, flags: { tmuxSocket?: string; session?: string }): TmuxSession {
  const { tmuxSocket = privateSocket(home), session = "ralph" } = flags;
  const isPath = tmuxSocket.includes("/");
  return { socket: isPath ? ["-S", resolve(tmuxSocket)] : ["-L", tmuxSocket], session };
}

const TMUX_MS = 20_000;
const OWN_CONFIGURATION = ["-f", "/dev/null"];

export function tmuxAt(home: string, { socket, session }: TmuxSession): Tmux {
  const isPrivate = socket[1] === privateSocket(home);
  const words = [...socket, ...(isPrivate ? OWN_CONFIGURATION : []), "-u"];
  return {
    session,
    words,
    run(args, stdin) {
      const command = { file: "tmux", args: [...words, ...args], cwd: "/", env: serverEnvironment() };
      return capture({ ...command, ...(stdin !== undefined && { stdin }) }, { timeoutMs: TMUX_MS });
    },
  };
}

function privateSocket(home: string): string {
  // A server belongs to a user, who may have several homes.
  if (home === join(userInfo().homedir, ".ralph")) return "ralph";
  return `ralph-${createHash("sha256").update(home).digest("hex").slice(0, 10)}`;
}

const FOR_SERVERS = "HOME PATH LANG LC_ALL LC_CTYPE SHELL USER LOGNAME TMUX_TMPDIR TZ".split(" ");

/** A server lives long and passes its environment to every window: it must not get a secret. */
function serverEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => FOR_SERVERS.includes(name));
  return { ...Object.fromEntries(kept), TERM: process.env["TERM"] || "xterm-256color" };
}

export function requireTmux(): void {
  if (which("tmux", "/").status === "found") return;
  throw new RalphError("tmux is not installed, and workers need it", {
    code: "tmux_missing",
    hint: "apt install tmux, dnf install tmux, or brew install tmux",
  });
}

/** How often to retry when a session ends, or a server starts, at the same moment. */
const TRIES = 10;
/** A size in which programs work as in a terminal; an attached terminal overrides it. */
const SIZE = ["-x", "160", "-y", "48"];

const PRIVATE_OPTIONS = [
  ["start-server"],
  ["set-option", "-g", "history-limit", "20000"],
  ["set-option", "-g", "status-left-length", "40"],
  ["set-option", "-g", "status-right", "detach: Ctrl-B D"],
  ["set-option", "-g", "mouse", "on"],
].flatMap((words) => [...words, ";"]);

/** Opens a window with a command and returns the id of its pane. Several processes may call this at once. */
export async function openWindow(tmux: Tmux, name: string, command: string[]): Promise<string> {
  const isPrivate = tmux.words.includes("-f");
  const opened = ["-d", "-P", "-F", "#{pane_id}", "-n", name];
  const window = ["new-window", ...opened, "-t", `=${tmux.session}:`, ...command];
  const session = ["new-session", ...opened, "-s", tmux.session, ...SIZE, ...command];
  let said = "";
  for (let tries = 0; tries < TRIES; tries += 1) {
    for (const args of [window, [...(isPrivate ? PRIVATE_OPTIONS : []), ...session]]) {
      const { ok, stdout, stderr, spawnError } = await tmux.run(args);
      said = spawnError?.message ?? stderr.trim();
      if (!ok || !stdout.startsWith("%")) continue;
      const pane = stdout.trim();
      await markPane(tmux, pane, name);
      for (const option of ["allow-rename", "automatic-rename", "remain-on-exit"])
        await tmux.run(["set-option", "-w", "-t", pane, option, "off"]);
      return pane;
    }
  }
  throw new RalphError(`tmux could not open a window: ${said}`, { code: "tmux_failed", exitCode: 1 });
}

/** The pane option that names its worker; tmux reuses ids after a restart of its server. */
const WORKER_OPTION = "@ralph_worker";

export async function markPane(tmux: Tmux, pane: string, name: string): Promise<void> {
  await tmux.run(["set-option", "-p", "-t", pane, WORKER_OPTION, name]);
}

export interface Pane {
  pane: string;
  window: string;
}

/** The panes of a worker: its loop's, and its agent's if that has a terminal of its own. */
export async function panesOf(tmux: Tmux, name: string): Promise<{ loop?: Pane; agent?: Pane }> {
  const format = [`#{${WORKER_OPTION}}`, "#{pane_id}", "#{window_id}"];
  const { stdout } = await tmux.run(["list-panes", "-a", "-F", format.join("\t")]);
  const rows = stdout.split("\n").map((line) => line.split("\t"));
  const own = rows.filter(([worker]) => worker === name);
  const [loop, agent] = own.map(([, pane = "", window = ""]) => ({ pane, window }));
  return { ...(loop && { loop }), ...(agent && { agent }) };
}
