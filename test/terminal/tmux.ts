import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect } from "vitest";
import { atEnd, eventually, type Project } from "../kit.js";

const BIN = join(import.meta.dirname, "../../bin/ralph.js");
let opened = 0;

const MODES = "cursor #{cursor_flag}, alternate screen #{alternate_on}, wrapping #{wrap_flag}";

export interface Terminal {
  /** Types text as it is. */
  type(text: string): void;
  /** Presses keys by their tmux names, such as Enter, C-c, Tab. */
  press(...keys: string[]): void;
  /** What is to be seen, with what has scrolled away. */
  screen(): string;
  /** The visible part with its colours. */
  colours(): string;
  /** Waits until the screen shows it. */
  shows(text: string | RegExp): Promise<void>;
  resize(columns: number, rows: number): void;
  /** What programs have left switched on, such as `cursor 1, alternate screen 0, wrapping 1`. */
  modes(): string;
  /** Everything that is sent to the terminal from now on goes into the file, too. */
  record(file: string): void;
  /** As when its window is closed. */
  close(): void;
}

/** A real terminal with a shell in the project, and `ralph` on its PATH. */
export async function openTerminal(
  p: Pick<Project, "root" | "dir" | "env" | "program">,
  columns = 80,
  rows = 24,
  env: NodeJS.ProcessEnv = {},
): Promise<Terminal> {
  p.program("ralph", `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`);
  opened += 1;
  const socket = join(p.root, `tmux-${opened}`);
  const { NO_COLOR: _, ...plain } = p.env;
  const tmux = (...args: string[]): string =>
    execFileSync("tmux", ["-S", socket, "-f", "/dev/null", ...args], {
      env: { ...plain, ...env, TERM: "xterm-256color" },
      encoding: "utf8",
    });
  atEnd(() => execFileSync("tmux", ["-S", socket, "kill-server"], { stdio: "ignore" }));
  tmux(
    "new-session",
    "-d",
    "-x",
    String(columns),
    "-y",
    String(rows),
    "-c",
    p.dir,
    "env PS1='$ ' bash --norc --noprofile",
  );
  const screen = (): string => tmux("capture-pane", "-p", "-S", "-500");
  const shows = async (text: string | RegExp): Promise<void> => {
    const seen = (): boolean => (typeof text === "string" ? screen().includes(text) : text.test(screen()));
    await eventually(seen).catch(() => expect(screen()).toMatch(text));
  };
  await shows(/^\$/m);
  return {
    type: (text) => void tmux("send-keys", "-l", "--", text),
    press: (...keys) => void tmux("send-keys", ...keys),
    screen,
    colours: () => tmux("capture-pane", "-p", "-e"),
    shows,
    resize: (width, height) => void tmux("resize-window", "-x", String(width), "-y", String(height)),
    modes: () => tmux("display", "-p", MODES).trim(),
    record: (file) => void tmux("pipe-pane", `cat >> '${file}'`),
    close: () => void tmux("respawn-pane", "-k", "cat"),
  };
}
