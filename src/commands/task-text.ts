import { isUtf8 } from "node:buffer";
import { buffer } from "node:stream/consumers";
import type { IssueLink } from "../records/spec.js";
import { assignment } from "../workers/assignment.js";
import { type IssueFlags, issueTaskOf, refuseWithoutIssue } from "./issue.js";
import { failure, note } from "./output.js";

/** The task: a text, or a file that ralph reads before each iteration. */
export interface TaskText {
  prompt?: string;
  promptFile?: string;
}

/** The same, with its issue. */
export interface GivenTask extends TaskText {
  link?: IssueLink;
}

/** Names the worktree. */
export function titleOf({ prompt, promptFile = "", link }: GivenTask): string {
  return link === undefined ? (prompt ?? promptFile) : `${link.number} ${link.title}`;
}

const STDIN = "-";

/** One of TEXT, `-p TEXT`, `-f FILE` and `--issue N`. stdin and issues are read once: the text stays with the run. */
export async function taskText(text: string | undefined, flags: TaskText & IssueFlags): Promise<GivenTask> {
  const { issue } = flags;
  const named = { "--prompt": flags.prompt, "--prompt-file": flags.promptFile, "--issue": issue };
  const given = Object.entries({ TEXT: text, ...named });
  refuseWithoutIssue(flags);
  const [first, second] = given.filter(([, value]) => value !== undefined);
  if (first !== undefined && second !== undefined)
    throw failure("prompt_choice", `${first[0]} and ${second[0]} exclude each other`, "give one of them");
  if (issue !== undefined) return issueTaskOf(issue, flags);
  if (first?.[1] === STDIN) return { prompt: await readStdin() };
  const { promptFile, prompt = text } = flags;
  return { ...(prompt !== undefined && { prompt }), ...(promptFile !== undefined && { promptFile }) };
}

/** A worker gets the stdin of the process that opened its window. */
export async function readStdin(): Promise<string> {
  const stdin = assignment()?.stdin;
  if (stdin !== undefined) return stdin;
  if (process.stdin.isTTY) note("reading the text from this terminal: Ctrl+D on a new line ends it");
  const bytes = await buffer(process.stdin);
  if (bytes.includes(0) || !isUtf8(bytes)) throw failure("stdin_invalid", "stdin is not a text in UTF-8");
  const text = bytes.toString("utf8");
  if (text.trim() === "") throw failure("prompt_empty", "there is no text on stdin");
  return text;
}
