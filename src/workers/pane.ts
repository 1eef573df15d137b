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
import type { Terminal, TerminalCommand, TerminalExit, TerminalHost } from "../ask/terminal.js";
import { capture } from "../process/capture.js";
import { killTree } from "../process/kill.js";
import { MARKER, newMarker } from "../process/run.js";
import { quoteWord } from "../words.js";
import { markPane, type Tmux } from "./tmux.js";

const GRACE_MS = 2000;

/** Gives commands a pane of their own in the worker's window, as large as the window while they run. */
export function paneHost(tmux: Tmux, loopPane: string, worker: string, pipes: string): TerminalHost {
  return {
    async open(command) {
      if (!existsSync(command.cwd)) throw new Error(`its folder is gone: ${command.cwd}`);
      const folder = mkdtempSync(join(pipes, "terminal-"));
      const [start, output] = [join(folder, "start"), join(folder, "output")];
      try {
        await expectOk(capture({ file: "mkfifo", args: [start, output], cwd: "/", env: process.env }));
        const { pane, pid } = await openPane(tmux, loopPane, worker, start);
        await markPane(tmux, pane, worker);
        await expectOk(tmux.run(["pipe-pane", "-t", pane, asIs(`exec cat > ${quoteWord(output)}`)]));
        await tmux.run(["resize-pane", "-Z", "-t", pane]);
        const token = `${newMarker()}.${randomBytes(12).toString("hex")}`;
        const tree = { pid, marker: `${MARKER}=${token}` };
        let hasEnded = false;
        const written = outputOf(output, token, () => {
          hasEnded = true;
        });
        const close = async (): Promise<void> => {
          if (!command.keepBackground || !hasEnded) await killTree(tree, GRACE_MS);
          await tmux.run(["kill-pane", "-t", pane]);
          await letGo([start, output]);
          rmSync(folder, { recursive: true, force: true });
        };
        const view = controls(tmux, pane);
        // The shell in the pane waits for this: nothing that it starts is missed.
        const handed = writeFile(start, script(command, folder, token)).then(() => true);
        if (!(await takenOrGone(handed, view.screen))) {
          handed.catch(() => {});
          await close();
          throw new Error("it was closed at once");
        }
        return { output: written, close, ...view };
      } catch (error) {
        rmSync(folder, { recursive: true, force: true });
        throw error;
      }
    },
  };
}

const LOOK_MS = 500;

/** A pane that is gone takes nothing: whoever waits for it would wait for ever. */
async function takenOrGone(handed: Promise<boolean>, screen: Terminal["screen"]): Promise<boolean> {
  for (;;) {
    const isTaken = await Promise.race([handed, sleep(LOOK_MS, false)]);
    if (isTaken || (await screen()) === undefined) return isTaken;
  }
}

/** Opening both ends of a pipe lets go of those who wait for the other end. */
async function letGo(pipes: string[]): Promise<void> {
  const ends = pipes.map((path) => openSync(path, constants.O_RDWR | constants.O_NONBLOCK));
  await sleep(0);
  for (const end of ends) closeSync(end);
}

/** In the window of the loop; in one of its own where somebody looks at it in a terminal too small for two. */
async function openPane(
  tmux: Tmux,
  loopPane: string,
  worker: string,
  start: string,
): Promise<{ pane: string; pid: number }> {
  // The folder is not told to tmux: it would expand what it takes for a format, and fall back to another one.
  const words = ["-P", "-F", "#{pane_id} #{pane_pid}", "/bin/sh", "-c", '. "$0"', start];
  const split = await tmux.run(["split-window", "-t", loopPane, ...words]);
  const said = split.ok
    ? split.stdout
    : await expectOk(tmux.run(["new-window", "-a", "-t", loopPane, "-n", worker, ...words]));
  const [pane = "", pid = ""] = said.trim().split(" ");
  return { pane, pid: Number(pid) };
}

/** tmux takes `#` and `%` in a command for its formats and those of the clock. */
function asIs(command: string): string {
  return command.replaceAll("#", "##").replaceAll("%", "%%");
}

async function expectOk(command: ReturnType<Tmux["run"]>): Promise<string> {
  const { ok, stdout, stderr, spawnError } = await command;
  if (ok) return stdout;
  throw new Error(spawnError?.message ?? (stderr.trim() || "tmux did not answer"));
}

/**
 * Starts the command with the loop's environment, which must not be seen in the list of processes or on the
 * disk, and prints its exit code behind its output, in a sequence that no terminal shows.
 */
function script({ file, args, cwd, env, stdin }: TerminalCommand, folder: string, token: string): string {
  const prompt = join(folder, "prompt");
  if (stdin !== undefined) writeFileSync(prompt, stdin, { mode: 0o600 });
  const words = [file, ...args].map(quoteWord).join(" ");
  return [
    "trap : INT QUIT TERM HUP",
    `cd -- ${quoteWord(cwd)} || exit`,
    "unset TMUX TMUX_PANE",
    ...exportsOf({ ...env, [MARKER]: token }),
    ...(stdin === undefined
      ? [words]
      : [`exec 4<${quoteWord(prompt)}`, `rm -f ${quoteWord(prompt)}`, `${words} <&4 4<&-`]),
    `printf '\\033]${token};%s\\007' "$?"`,
    "",
  ].join("\n");
}

/** A shell lets nobody set these, or tells its window by them. */
const LEFT_OUT = /^(UID|EUID|PPID|BASH.*|SHELLOPTS|TERM|COLUMNS|LINES|TMUX.*|PWD|OLDPWD|_)$/;

function exportsOf(env: NodeJS.ProcessEnv): string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    value === undefined || !/^[A-Za-z_]\w*$/.test(name) || LEFT_OUT.test(name)
      ? []
      : [`export ${name}=${quoteWord(value)}`],
  );
}

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
    const at = held.indexOf(mark);
    const end = at === -1 ? -1 : held.indexOf(BEL, at);
    const sure = at === -1 ? withoutPart(held, mark) : at;
    if (sure > 0) yield held.subarray(0, sure);
    if (end !== -1) {
      onExit();
      return { exitCode: Number(held.subarray(at + mark.length, end).toString("latin1")) };
    }
    held = held.subarray(sure);
  }
  if (held.length > 0) yield held;
  return { exitCode: null };
}

const BEL = 0x07;

/** How much of it is no part of a mark that is still to come. */
function withoutPart(held: Buffer, mark: Buffer): number {
  const at = held.lastIndexOf(mark[0] as number);
  const isPart = at !== -1 && mark.subarray(0, held.length - at).equals(held.subarray(at));
  return isPart ? at : held.length;
}

const SETTLE_MS = 300;
const SETTLE_LOOKS = 20;

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
      await untilStill(screen);
      await tmux.run(["send-keys", "-t", pane, "Enter"]);
    },
  };
}

/** A program that is still taking in what was pasted takes Enter for a part of it. */
async function untilStill(screen: () => Promise<string | undefined>): Promise<void> {
  let before = await screen();
  for (let looks = 0; looks < SETTLE_LOOKS; looks += 1) {
    await sleep(SETTLE_MS);
    const now = await screen();
    if (now === before) return;
    before = now;
  }
}
