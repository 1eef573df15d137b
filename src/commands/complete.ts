import type { Command } from "commander";
import { candidates, commandsOf } from "../cli/completion/candidates.js";
import type { Candidate, Sources } from "../cli/completion/values.js";

/** What takes a look at the disk is loaded when it is asked for. */
const sources = (program: Command): Sources => ({
  agent: async () => (await import("../cli/completion/agents.js")).agents(process.cwd()),
  command: async () => commandsOf(program),
  loop: async () => (await import("../cli/completion/workers.js")).loops(),
  worker: async () => (await import("../cli/completion/workers.js")).workers(),
  run: async () => (await import("../cli/completion/runs.js")).runs(),
});

/** Asked by the scripts of `ralph completion` at each Tab. Whatever is wrong, there is just nothing to offer. */
export async function complete(program: Command, words: string[]): Promise<number> {
  process.stdout.on("error", () => {});
  const found = await candidates(program, words, sources(program)).catch(() => []);
  process.stdout.write(
    found
      .filter(({ value }) => isPrintable(value))
      .map(line)
      .join(""),
  );
  return 0;
}

/** A line break in a name would become two candidates, or worse on a terminal. */
function isPrintable(value: string): boolean {
  return !/\p{Cc}/u.test(value);
}

function line({ value, description }: Candidate): string {
  return `${value}\t${description.replace(/[\s\p{Cc}]+/gu, " ")}\n`;
}
