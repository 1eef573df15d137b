import { join } from "node:path";
import type { Agent } from "./agent.js";

/** Any other command: its words unchanged, the prompt on stdin or in place of a placeholder. */
export const command: Agent = {
  name: "command",
  reports: [],
  takesModel: false,
  credentials: [],
  firstMessage: (message) => [message],
  command({ words, flags, prompt, scratch }) {
    const [file = "", ...args] = [...words, ...flags];
    const promptFile = join(scratch, "prompt-for-agent.txt");
    const placed = args.some((arg) => arg.includes("{prompt}") || arg.includes("{prompt_file}"));
    const needsFile = args.some((arg) => arg.includes("{prompt_file}"));
    return {
      file,
      // One pass, so that a placeholder inside the prompt stays unchanged.
      args: args.map((arg) =>
        arg.replace(/\{(prompt|prompt_file)\}/g, (_, name) => (name === "prompt" ? prompt : promptFile)),
      ),
      ...(needsFile && { files: { [promptFile]: prompt } }),
      ...(!placed && { stdin: prompt }),
    };
  },
  parse: (line) => [{ type: "text", text: line }],
};
