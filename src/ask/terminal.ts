import { stripVTControlCharacters } from "node:util";

/** Where a command can be given a terminal, such as a window of tmux. */
export interface TerminalHost {
  /** Rejects where no terminal can be had. */
  open(command: TerminalCommand): Promise<Terminal>;
}

export interface TerminalCommand {
  file: string;
  args: string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** Read by the command in place of the keyboard. */
  stdin?: string | undefined;
  /** What it leaves running is left alone. */
  keepBackground?: boolean | undefined;
}

/** A terminal with one command on it. */
export interface Terminal {
  /** What the command writes, as it comes; over when the command is. */
  output: AsyncGenerator<Buffer, TerminalExit>;
  /** What is to be seen now; undefined when the terminal is gone. */
  screen(): Promise<string | undefined>;
  /** Types a text and submits it. */
  type(text: string): Promise<void>;
  /** Closes the terminal and ends what is still on it. */
  close(): Promise<void>;
}

/** As a shell tells it: a signal is 128 and its number. null: it was ended with its terminal. */
export interface TerminalExit {
  exitCode: number | null;
}

interface ScreenRules extends Pick<Terminal, "screen"> {
  /** How long it may stand still now; 0: for ever. */
  timeoutMs(): number;
  /** Called with what is to be seen, every time. */
  onScreen(screen: string): void;
  onSilence(): void;
}

const EVERY_MS = 2000;
const LINES = 20;

/** Reads a screen every two seconds; when its last lines have not changed for so long, nobody works on it. */
export function watchScreen(rules: ScreenRules): () => void {
  let before: string | undefined;
  let stableMs = 0;
  let ended = false;
  let timer: NodeJS.Timeout | undefined;
  const read = async (): Promise<void> => {
    const screen = await rules.screen();
    if (ended) return;
    if (screen !== undefined) rules.onScreen(screen);
    const now = screen && stripVTControlCharacters(screen).trimEnd().split("\n").slice(-LINES).join("\n");
    stableMs = now !== undefined && now === before ? stableMs + EVERY_MS : 0;
    before = now;
    const timeoutMs = rules.timeoutMs();
    if (timeoutMs > 0 && stableMs >= timeoutMs) rules.onSilence();
    else timer = setTimeout(() => void read(), EVERY_MS);
  };
  void read();
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}
