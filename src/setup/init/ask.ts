import { createInterface } from "node:readline/promises";

/** Asks one question and returns the answer, trimmed. Throws `Aborted` on Ctrl+C and at the end of the input. */
export type Ask = (question: string, suggestions?: string[]) => Promise<string>;

/** The user left before the last question. */
export class Aborted extends Error {}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Runs a dialogue on the terminal. Answers that were pasted ahead are kept for their questions. */
export async function withTerminal<Result>(dialogue: (ask: Ask) => Promise<Result>): Promise<Result> {
  let suggestions: string[] = [];
  const terminal = createInterface({
    input: process.stdin,
    output: process.stdout,
    completer: (line: string): [string[], string] => [completions(line, suggestions), line],
  });
  const answers = queue();
  terminal.on("line", answers.add);
  for (const name of ["SIGINT", "close"]) terminal.on(name, answers.end);
  for (const name of SIGNALS) process.once(name, answers.end);
  try {
    return await dialogue(async (question, offered = []) => {
      suggestions = offered;
      terminal.setPrompt(question);
      terminal.prompt();
      return (await answers.next()).trim();
    });
  } finally {
    for (const name of SIGNALS) process.off(name, answers.end);
    terminal.close();
  }
}

/** Tab on an empty line fills in the first suggestion; the next question offers the others. */
function completions(line: string, suggestions: string[]): string[] {
  return line === "" ? suggestions.slice(0, 1) : suggestions.filter((text) => text.startsWith(line));
}

function queue() {
  const waiting: string[] = [];
  let ended = false;
  let wake = (): void => {};
  return {
    add(line: string): void {
      waiting.push(line);
      wake();
    },
    end(): void {
      ended = true;
      wake();
    },
    async next(): Promise<string> {
      for (;;) {
        if (ended) throw new Aborted();
        const line = waiting.shift();
        if (line !== undefined) return line;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
