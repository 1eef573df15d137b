import type { Comment, Forge, Person } from "./forge.js";

/**
 * Every text that ralph writes on a forge ends with a marker that people do not see: by it ralph knows its own words,
 * which never set it to work, and finds out whether a text whose answer got lost was written.
 */
const MARKER = /<!-- ralph:[^\n]*? -->\s*$/;

/** `marked("Fixed.", "answer 17 3f9a1b")` */
export function marked(text: string, what: string): string {
  return `${text.trimEnd()}\n\n<!-- ralph:${what} -->`;
}

/** undefined: somebody else wrote it. */
export function markerOf(body: string): string | undefined {
  return MARKER.exec(body)?.[0].trim();
}

export function isOwn({ body }: { body: string }): boolean {
  return MARKER.test(body);
}

/** Who works on an issue stands in the issue itself, so that ralphs on other machines see it. */

/** A claim that nobody renewed for so long is free. */
const STALE_MS = 24 * 3_600_000;

/** A comment by which a ralph has taken an issue. */
export interface IssueClaim {
  comment: number;
  /** Of the run. */
  name: string;
}

const CLAIM = /^<!-- ralph:claim ([\w-]+) -->$/;

/** Whether a ralph may have written it; `self`: the login that this one writes with, where it is known. */
export function isRalph({ login, mayWrite, isProgram }: Person, self: string | undefined): boolean {
  return mayWrite || (self === undefined ? isProgram : login === self);
}

/** The claims of an issue, the oldest first, also those that nobody renewed. Words of strangers claim nothing. */
export function claimsIn(comments: Comment[], self?: string): (IssueClaim & { updatedAt: string })[] {
  return [...comments]
    .sort((a, b) => a.id - b.id)
    .flatMap(({ id, author, body, updatedAt }) => {
      const name = CLAIM.exec(markerOf(body) ?? "")?.[1];
      return name === undefined || !isRalph(author, self) ? [] : [{ comment: id, name, updatedAt }];
    });
}

/** The oldest one that stands. */
export function standingClaim(comments: Comment[], self?: string): IssueClaim | undefined {
  return claimsIn(comments, self).find(({ updatedAt }) => Date.now() - Date.parse(updatedAt) < STALE_MS);
}

/**
 * Claims an issue for a run. All write first and look then: of several, the oldest comment has it, and the others take
 * theirs back. undefined: somebody else was quicker.
 */
export async function claim(forge: Forge, issue: number, name: string): Promise<IssueClaim | undefined> {
  const mine = await forge.issues.comment(issue, claimText(name));
  const first = standingClaim(await forge.issues.comments(issue), mine.author.login);
  if (first?.comment === mine.id) return first;
  await forge.issues.remove(mine.id);
  return undefined;
}

/** Others see that its run lives. false: it is gone, or another one has the issue, as this machine slept for too long. */
export async function renew(forge: Forge, issue: number, { comment, name }: IssueClaim): Promise<boolean> {
  const comments = await forge.issues.comments(issue);
  const first = standingClaim(comments, await forge.self());
  const isOthers = first !== undefined && first.comment !== comment;
  if (isOthers || !comments.some(({ id }) => id === comment)) return false;
  await forge.issues.edit(comment, claimText(name, new Date().toISOString().slice(0, 16)));
  return true;
}

/** It is over: the comment stays for people, and claims nothing any more. */
export function release(forge: Forge, { comment, name }: IssueClaim, outcome: string): Promise<void> {
  return forge.issues.edit(
    comment,
    marked(`ralph worked on this as \`${name}\`: ${outcome}.`, `claimed ${name}`),
  );
}

function claimText(name: string, at?: string): string {
  const since = at === undefined ? "" : ` (still at work, ${at} UTC)`;
  return marked(`ralph works on this as \`${name}\`${since}.`, `claim ${name}`);
}
