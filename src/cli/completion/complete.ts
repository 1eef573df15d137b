import type { Command } from "commander";
import type { Candidate } from "../../commands/completion-values.js";
import { candidates, commandsOf } from "./candidates.js";
import type { Sources } from "./values.js";

/** What takes a look at the disk is loaded when it is asked for. */
const sources = (program: Command): Sources => ({
  agent: async () => (await import("../../commands/completion-values.js")).agents(process.cwd()),
  command: async () => commandsOf(program),
  loop: async () => (await import("../../commands/completion-values.js")).loops(),
  worker: async () => (await import("../../commands/completion-values.js")).workers(),
  run: async () => (await import("../../commands/completion-values.js")).runs(),
});

/** Asked by the scripts of `ralph completion` at each Tab. Whatever is wrong, there is just nothing to offer. */
export async function complete(program: Command, words: string[]): Promise<number> {
  process.stdout.on("error", () => {});
  const found = await candidates(program, words, sources(program)).catch((): Candidate[] => []);
  // A line break in a name would become two candidates, or worse on a terminal.
  const printable = found.filter(({ value }) => !/\p{Cc}/u.test(value));
  const line = ({ value, description }: Candidate): string =>
    `${value}\t${description.replace(/[\s\p{Cc}]+/gu, " ")}\n`;
  process.stdout.write(printable.map(line).join(""));
  return 0;
}
