import { isUtf8 } from "node:buffer";
import { buffer } from "node:stream/consumers";
import type { IssueLink } from "../records/spec.js";
import { assignment } from "../workers/files.js";
import { failure, note, warn } from "./output.js";

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

/** Flags that make an issue the task of a run. */
export interface IssueFlags {
  issue?: string;
  trustAuthor?: boolean;
}

/** The issue as a task. Nothing is spent for one that cannot be one: closed, a pull request, a stranger's. */
async function issueTaskOf(
  given: string,
  { trustAuthor = false }: IssueFlags,
  checkout = process.cwd(),
): Promise<{ prompt: string; link: IssueLink }> {
  const { fullName } = await import("../github/forge.js");
  const { forgeOf, numberedPlace } = await import("../github/remote.js");
  const { issueTask } = await import("../github/issue-text.js");
  const { number, place } = numberedPlace("--issue", given);
  const forge = await forgeOf(checkout, { tell: note }, place);
  const issue = await forge.issues.get(number);
  const name = `issue ${number} of ${fullName(forge.repo)}`;
  if (issue.isPullRequest)
    throw failure(
      "issue_is_pull",
      `${name} is a pull request`,
      `ralph follow ${number} works on one of ralph's`,
    );
  if (!issue.isOpen) throw failure("issue_closed", `${name} is closed`, forge.commands.reopenIssue(number));
  const { login, role } = issue.author;
  if (!(issue.author.mayWrite || trustAuthor))
    throw failure(
      "author_untrusted",
      `${name} is by ${login}, who has no write access (${role})`,
      "read it; if you want what it asks for, add --trust-author",
    );
  const comments = await forge.issues.comments(number);
  const task = issueTask(forge.repo, issue, comments);
  const others = new Set(comments.filter(({ author }) => !author.mayWrite).map(({ author }) => author.login));
  if (others.size > 0 && !trustAuthor)
    warn(
      `these people without write access wrote comments, and the agent reads them as hints: ${[...others].join(", ")}`,
    );
  return { prompt: task, link: { url: issue.url, number, title: issue.title } };
}

/** `--trust-author` says something about an issue. */
function refuseWithoutIssue({ issue, trustAuthor }: IssueFlags): void {
  if (trustAuthor && issue === undefined)
    throw failure("flag_invalid", "--trust-author needs --issue", "add --issue N");
}
