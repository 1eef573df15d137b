import type { IssueLink } from "../records/spec.js";
import { failure, note, warn } from "./output.js";

/** Flags that make an issue the task of a run. */
export interface IssueFlags {
  issue?: string;
  trustAuthor?: boolean;
}

/** The issue as a task. Nothing is spent for one that cannot be one: closed, a pull request, a stranger's. */
export async function issueTaskOf(
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
export function refuseWithoutIssue({ issue, trustAuthor }: IssueFlags): void {
  if (trustAuthor && issue === undefined)
    throw failure("flag_invalid", "--trust-author needs --issue", "add --issue N");
}
