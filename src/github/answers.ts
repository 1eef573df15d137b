import { z } from "zod";
import { harmlessLine } from "../views/harmless.js";
import type { Comment, ForgeCheck, Issue, LineComment, Person, PullRequest, Review } from "./forge.js";

/** What GitHub answers, as far as ralph reads it. */

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? "");
/** A name that anybody may have given to something. */
const name = z.string().transform(harmlessLine);
const user = z
  .object({ login: z.string() })
  .nullish()
  .transform((value) => value?.login ?? "ghost");

const WRITERS = ["OWNER", "MEMBER", "COLLABORATOR"];

function personOf(login: string, role: string): Person {
  return { login, role, mayWrite: WRITERS.includes(role), isProgram: login.endsWith("[bot]") };
}

export const Self = z.object({ login: z.string() });

export const IssueAnswer = z
  .object({
    ...{ number: z.number(), title: z.string(), body: text, user, state: z.string(), html_url: z.string() },
    author_association: z.string(),
    labels: z.array(z.union([z.string(), z.object({ name: z.string() }).transform(({ name }) => name)])),
    pull_request: z.unknown().optional(),
  })
  .transform(
    ({ number, title, body, user: login, author_association: role, labels, ...more }): Issue => ({
      ...{ number, title, body, author: personOf(login, role), labels },
      isOpen: more.state === "open",
      isPullRequest: more.pull_request !== undefined,
      url: more.html_url,
    }),
  );

const COMMENT = {
  ...{ id: z.number(), user, author_association: z.string(), body: text },
  updated_at: z.string(),
};

function commentOf(one: z.infer<z.ZodObject<typeof COMMENT>>): Comment {
  const { id, user: login, author_association: role, body, updated_at: updatedAt } = one;
  return { id, author: personOf(login, role), body, updatedAt };
}

export const IssueComment = z.object(COMMENT).transform(commentOf);

export const ReviewComment = z
  .object({
    ...COMMENT,
    path: name,
    line: z.number().nullish(),
    original_line: z.number().nullish(),
    diff_hunk: text,
    in_reply_to_id: z.number().nullish(),
  })
  .transform(
    (one): LineComment => ({
      ...commentOf(one),
      path: one.path,
      line: one.line ?? one.original_line ?? null,
      hunk: one.diff_hunk,
      inReplyTo: one.in_reply_to_id ?? null,
    }),
  );

export const ReviewAnswer = z
  .object({ id: z.number(), user, author_association: z.string(), body: text, state: z.string() })
  .transform(
    ({ id, user: login, author_association: role, body, state }): Review => ({
      ...{ id, author: personOf(login, role), body },
      wantsChanges: state.toUpperCase() === "CHANGES_REQUESTED",
      isApproval: state.toUpperCase() === "APPROVED",
    }),
  );

export const Pull = z
  .object({
    ...{ number: z.number(), html_url: z.string(), title: z.string(), body: text, state: z.string() },
    ...{ draft: z.boolean().nullish(), merged: z.boolean().nullish(), merged_at: z.string().nullish() },
    mergeable: z.boolean().nullish(),
    head: z.object({
      ref: z.string(),
      sha: z.string(),
      repo: z.object({ full_name: z.string() }).nullish(),
    }),
    base: z.object({ ref: z.string() }),
  })
  .transform(
    ({ number, html_url: url, title, body, head, base, ...more }): PullRequest => ({
      ...{ number, url, title, body, base: base.ref },
      isOpen: more.state === "open",
      isMerged: more.merged === true || more.merged_at != null,
      isDraft: more.draft === true,
      mergeable: more.mergeable ?? null,
      head: { branch: head.ref, commit: head.sha, repository: head.repo?.full_name ?? "" },
    }),
  );

const FAILED = ["failure", "timed_out", "startup_failure", "error"];

function statusOf(isOver: boolean, conclusion: string): ForgeCheck["status"] {
  if (!isOver) return "running";
  return FAILED.includes(conclusion) ? "failed" : "passed";
}

export const CheckRun = z
  .object({
    ...{ id: z.number(), name, status: z.string(), conclusion: z.string().nullish() },
    output: z.object({ title: text, summary: text, text }).nullish(),
  })
  .transform(({ id, name, status, conclusion, output }): ForgeCheck => {
    const said = [output?.title, output?.summary, output?.text].filter(Boolean).join("\n");
    return { id, name, status: statusOf(status === "completed", conclusion ?? ""), said, hasLog: true };
  });

export const Status = z
  .object({ id: z.number(), context: name, state: z.string(), description: text })
  .transform(({ id, context: name, state, description: said }): ForgeCheck => {
    return { id, name, status: statusOf(state !== "pending", state), said, hasLog: false };
  });

export const Annotation = z
  .object({ path: text, start_line: z.number().nullish(), message: text })
  .transform(({ path, start_line, message }) => `${path}:${start_line ?? "?"}: ${message}`);

export const RepositoryAnswer = z.object({
  default_branch: z.string(),
  permissions: z.object({ push: z.boolean().optional() }).nullish(),
});
export const Ref = z.object({ object: z.object({ sha: z.string() }) });
export const Milestone = z.object({ number: z.number(), title: z.string() });
