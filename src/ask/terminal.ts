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
  /** Takes the terminal away, and whoever is still on it. */
  close(): Promise<void>;
}

/** As a shell tells it: a signal is 128 and its number. null: it was ended with its terminal. */
export interface TerminalExit {
  exitCode: number | null;
}
