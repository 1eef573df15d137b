import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  createReadStream,
  existsSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Terminal, TerminalCommand, TerminalExit, TerminalHost } from "../ask/run-on-terminal.js";
import { killTree } from "../process/kill.js";
import { capture, MARKER, newMarker } from "../process/run.js";
import { quoteWord } from "../words.js";
import { markPane, type Tmux } from "./tmux.js";

const GRACE_MS = 2000;

/** Gives each command a pane of its own in the worker's window, as large as the window while it runs. */
export function paneHost(tmux: Tmux, loopPane: string, worker: string, pipes: string): TerminalHost {
  return {
    async open(command) {
      if (!existsSync(command.cwd)) throw new Error(`its folder is gone: ${command.cwd}`);
      const folder = mkdtempSync(join(pipes, "terminal-"));
      try {
        return await openTerminal(tmux, loopPane, worker, folder, command);
      } catch (error) {
        rmSync(folder, { recursive: true, force: true });
        throw error;
      }
    },
  };
}

async function openTerminal(
  tmux: Tmux,
  loopPane: string,
  worker: string,
  folder: string,
  command: TerminalCommand,
): Promise<Terminal> {
  const [start, output] = [join(folder, "start"), join(folder, "output")];
  await expectOk(capture({ file: "mkfifo", args: [start, output], cwd: "/", env: process.env }));
  const { pane, pid } = await openPane(tmux, loopPane, worker, start);
  await markPane(tmux, pane, worker);
  // tmux expands `#` and `%` in a command.
  const cat = `exec cat > ${quoteWord(output)}`.replaceAll("#", "##").replaceAll("%", "%%");
  await expectOk(tmux.run(["pipe-pane", "-t", pane, cat]));
  await tmux.run(["resize-pane", "-Z", "-t", pane]);
  const token = `${newMarker()}.${randomBytes(12).toString("hex")}`;
  let hasEnded = false;
  const written = outputOf(output, token, () => {
    hasEnded = true;
  });
  const close = async (): Promise<void> => {
    if (!command.keepBackground || !hasEnded) await killTree({ pid, marker: `${MARKER}=${token}` }, GRACE_MS);
    await tmux.run(["kill-pane", "-t", pane]);
    // Opening both ends of a pipe releases a process that waits for the other end.
    const ends = [start, output].map((path) => openSync(path, constants.O_RDWR | constants.O_NONBLOCK));
    await sleep(0);
    for (const end of ends) closeSync(end);
    rmSync(folder, { recursive: true, force: true });
  };
  const view = controls(tmux, pane);
  // The shell in the pane waits for this, so that no output of the command is lost.
  const handed = writeFile(start, script(command, folder, token)).then(() => true);
  for (let isTaken = false; !isTaken; ) {
    isTaken = await Promise.race([handed, sleep(POLL_MS, false)]);
    if (isTaken || (await view.screen()) !== undefined) continue;
    // Without a pane, the write never ends.
    handed.catch(() => {});
    await close();
    throw new Error("it was closed at once");
  }
  return { output: written, close, ...view };
}

const POLL_MS = 500;

/** In the loop's window, or in a new one if the attached terminal is too small for two panes. */
async function openPane(
  tmux: Tmux,
  loopPane: string,
  worker: string,
  start: string,
): Promise<{ pane: string; pid: number }> {
  // Do not pass the folder to tmux: it would expand formats in it, and fall back to another folder.
  const words = ["-P", "-F", "#{pane_id} #{pane_pid}", "/bin/sh", "-c", '. "$0"', start];
  const split = await tmux.run(["split-window", "-t", loopPane, ...words]);
  const said = split.ok
    ? split.stdout
    : await expectOk(tmux.run(["new-window", "-a", "-t", loopPane, "-n", worker, ...words]));
  const [pane = "", pid = ""] = said.trim().split(" ");
  return { pane, pid: Number(pid) };
}

async function expectOk(command: ReturnType<Tmux["run"]>): Promise<string> {
  const { ok, stdout, stderr, spawnError } = await command;
  if (ok) return stdout;
  throw new Error(spawnError?.message ?? (stderr.trim() || "tmux did not answer"));
}

/**
 * Starts the command with the loop's environment, which must not appear in the process list or on disk.
 * Prints the exit code after the command's output, in a sequence that no terminal shows.
 */
function script({ file, args, cwd, env, stdin }: TerminalCommand, folder: string, token: string): string {
  const prompt = join(folder, "prompt");
  if (stdin !== undefined) writeFileSync(prompt, stdin, { mode: 0o600 });
  const words = [file, ...args].map(quoteWord).join(" ");
  const isExported = (name: string) => /^[A-Za-z_]\w*$/.test(name) && !LEFT_OUT.test(name);
  const variables = Object.entries({ ...env, [MARKER]: token }).filter(([name]) => isExported(name));
  return [
    "trap : INT QUIT TERM HUP",
    `cd -- ${quoteWord(cwd)} || exit`,
    "unset TMUX TMUX_PANE",
    ...variables.map(([name, value]) => (value === undefined ? "" : `export ${name}=${quoteWord(value)}`)),
    ...(stdin === undefined
      ? [words]
      : [`exec 4<${quoteWord(prompt)}`, `rm -f ${quoteWord(prompt)}`, `${words} <&4 4<&-`]),
    `printf '\\033]${token};%s\\007' "$?"`,
    "",
  ].join("\n");
}

/** Variables that a shell does not allow to be set, or that describe the window. */
const LEFT_OUT = /^(UID|EUID|PPID|BASH.*|SHELLOPTS|TERM|COLUMNS|LINES|TMUX.*|PWD|OLDPWD|_)$/;

/** Reads until the exit code comes, or until the pane is gone. */
async function* outputOf(
  path: string,
  token: string,
  onExit: () => void,
): AsyncGenerator<Buffer, TerminalExit> {
  const mark = Buffer.from(`\u001b]${token};`);
  let held: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    held = Buffer.concat([held, chunk]);
    const at = markStart(held, mark);
    if (at > 0) yield held.subarray(0, at);
    held = held.subarray(at);
    const end = held.length < mark.length ? -1 : held.indexOf(BEL);
    if (end === -1) continue;
    onExit();
    return { exitCode: Number(held.subarray(mark.length, end).toString("latin1")) };
  }
  if (held.length > 0) yield held;
  return { exitCode: null };
}

const BEL = 0x07;

/** Where the mark begins, or the part of it that has come so far. */
function markStart(held: Buffer, mark: Buffer): number {
  const at = held.indexOf(mark);
  if (at !== -1) return at;
  const last = held.lastIndexOf(mark[0] as number);
  const isPart = last !== -1 && mark.subarray(0, held.length - last).equals(held.subarray(last));
  return isPart ? last : held.length;
}

const SETTLE_MS = 300;
const SETTLE_POLLS = 20;

function controls(tmux: Tmux, pane: string): Pick<Terminal, "screen" | "type"> {
  const screen = async (): Promise<string | undefined> => {
    const { ok, stdout } = await tmux.run(["capture-pane", "-p", "-t", pane]);
    return ok ? stdout : undefined;
  };
  return {
    screen,
    async type(text) {
      const buffer = `ralph-${pane}`;
      await tmux.run(["load-buffer", "-b", buffer, "-"], text);
      await tmux.run(["paste-buffer", "-p", "-d", "-b", buffer, "-t", pane]);
      // A program that still reads a paste takes Enter as part of it.
      let [before, now]: (string | undefined)[] = [undefined, await screen()];
      for (let polls = 0; polls < SETTLE_POLLS && now !== before; polls += 1) {
        await sleep(SETTLE_MS);
        [before, now] = [now, await screen()];
      }
      await tmux.run(["send-keys", "-t", pane, "Enter"]);
    },
  };
}
