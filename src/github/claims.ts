import { type Comment, type Forge, mayWrite, type Person } from "./forge.js";
import { marked, markerOf } from "./markers.js";

/** Who works on an issue stands in the issue itself, so that ralphs on other machines see it. */

/** A claim that nobody renewed for so long is free. */
const STALE_MS = 24 * 3_600_000;

/** A comment by which a ralph has taken an issue. */
export interface Claim {
  comment: number;
  /** Of the run. */
  name: string;
  by: string;
}

const CLAIM = /^<!-- ralph:claim ([\w-]+) -->$/;

/** The oldest one that stands. Words of strangers claim nothing; `own`: the login that ralph writes with, where it is known. */
export function standingClaim(comments: Comment[], own?: string, now = Date.now()): Claim | undefined {
  const isHeard = (author: Person): boolean => mayWrite(author) || author.login === own;
  const found = [...comments]
    .sort((a, b) => a.id - b.id)
    .find(
      (one) =>
        claimIn(one) !== undefined && isHeard(one.author) && now - Date.parse(one.updatedAt) < STALE_MS,
    );
  return found && { comment: found.id, name: claimIn(found) as string, by: found.author.login };
}

function claimIn({ body }: Comment): string | undefined {
  return CLAIM.exec(markerOf(body) ?? "")?.[1];
}

/**
 * Claims an issue for a run. All write first and look then: of several, the oldest comment has it, and the others take
 * theirs back. undefined: somebody else was quicker.
 */
export async function claim(forge: Forge, issue: number, name: string): Promise<Claim | undefined> {
  const mine = await forge.issues.comment(issue, claimText(name));
  const first = standingClaim(await forge.issues.comments(issue), mine.author.login);
  if (first?.comment === mine.id) return first;
  await forge.issues.remove(mine.id);
  return undefined;
}

/** Others see that its run lives. */
export function renew(forge: Forge, { comment, name }: Claim): Promise<void> {
  return forge.issues.edit(comment, claimText(name, new Date().toISOString().slice(0, 16)));
}

/** It is over: the comment stays for people, and claims nothing any more. */
export function release(forge: Forge, { comment, name }: Claim, outcome: string): Promise<void> {
  return forge.issues.edit(
    comment,
    marked(`ralph worked on this as \`${name}\`: ${outcome}.`, `claimed ${name}`),
  );
}

function claimText(name: string, at?: string): string {
  const since = at === undefined ? "" : ` (still at work, ${at} UTC)`;
  return marked(`ralph works on this as \`${name}\`${since}.`, `claim ${name}`);
}
