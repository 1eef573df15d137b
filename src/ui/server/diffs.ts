import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import type { RunFolder } from "../../records/runs.js";
import { addSteering } from "../../records/words.js";
import { changesOf, type Part } from "../../run/changes.js";
import { readSpec } from "../../run/spec.js";
import { diffSince } from "../../workspace/changes.js";
import { git } from "../../workspace/git.js";
import type { DiffPage } from "../api.js";

/** What a run, a lane or one of their iterations has changed, file by file. */
export async function diffPage(run: RunFolder, part: Part = {}): Promise<DiffPage> {
  const { workspace, base, lanes } = readSpec(run);
  const isThere = existsSync(workspace);
  const isWhole = part.iteration === undefined && part.lane === undefined && lanes === undefined;
  // What people do with the files of a run that is done is not its work.
  const isOpen = isThere && isWhole && !run.state()?.success;
  const patch = isOpen ? await diffSince({ workspace, base }) : undefined;
  const recorded = patch === undefined ? await recordedPatch(run, part) : { patch };
  if ("why" in recorded) return { commit: null, pieces: [], why: recorded.why };
  const head = isThere ? await git(workspace, ["rev-parse", "--verify", "-q", "HEAD"]) : undefined;
  return { commit: head?.ok ? head.stdout.trim() : null, pieces: piecesOf(recorded.patch) };
}

const FORMAT = ["--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/"];
const MAX_BYTES = 1024 * 1024;

async function recordedPatch(run: RunFolder, part: Part): Promise<{ patch: string } | { why: string }> {
  const changes = await changesOf(run, part);
  if (typeof changes === "string") return { why: changes };
  const { ok, stdout } = await changes.diff(["diff", ...FORMAT, "--find-renames"], { maxBytes: MAX_BYTES });
  return ok ? { patch: stdout } : { why: "git cannot tell what has changed there" };
}

/** The part of each file: as long as its identity is the same, the file has the same change. */
function piecesOf(patch: string): DiffPage["pieces"] {
  const parts = patch.split(/^(?=diff --git )/m).filter((part) => part.startsWith("diff --git "));
  return parts.map((part) => ({
    id: createHash("sha256").update(part).digest("hex").slice(0, 16),
    patch: part,
  }));
}

/** With the part of the run whose diff was shown. */
export interface DiffComment extends Part {
  /** The identity of the file's change that was shown. */
  piece: string;
  commit: string | null;
  /** Which line of the part it is about, from 0 on. */
  line: number;
  text: string;
}

/** Makes it words for the next iteration. A text says why that cannot be. */
export async function comment(
  run: RunFolder,
  { piece, iteration, lane, commit, line, text }: DiffComment,
): Promise<string | undefined> {
  if (run.state()?.success && run.loop() === undefined)
    return "the run is done, so no iteration would read the comment";
  const { pieces, why } = await diffPage(run, { iteration, lane });
  const found = pieces.find(({ id }) => id === piece);
  if (found === undefined || (iteration !== undefined && !(await isNewest(run, lane, found.patch))))
    return why ?? "the file has changed since this diff: reload it, and comment on the new one";
  const place = placeIn(found.patch, line);
  if (place === undefined) return "there is no such line in the diff";
  const at = commit === null ? "" : ` (seen at commit ${commit.slice(0, 10)})`;
  const of = lane === undefined ? "" : ` of ${lane}`;
  addSteering(run, `A comment on ${place.file}${of}, line ${place.number}${at}:\n> ${place.words}\n${text}`);
  return undefined;
}

/** Whether the file is still as an iteration has left it. */
async function isNewest(run: RunFolder, lane: string | undefined, patch: string): Promise<boolean> {
  const file = fileIn(patch.split("\n"));
  const { pieces } = await diffPage(run, { lane });
  const now = pieces.find((one) => fileIn(one.patch.split("\n")) === file);
  return now !== undefined && blobIn(now.patch) === blobIn(patch);
}

/** The content after the change, as git names it in short. */
function blobIn(patch: string): string | undefined {
  return /^index \w+\.\.(\w{7})/m.exec(patch)?.[1];
}

/** The file, the number and the words of a line of a patch. */
function placeIn(patch: string, at: number): { file: string; number: number; words: string } | undefined {
  const lines = patch.split("\n");
  const words = lines[at] ?? "";
  const hunk = lines.slice(0, at).findLastIndex((line) => line.startsWith("@@"));
  const [, before, after] = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(lines[hunk] ?? "") ?? [];
  if (before === undefined || after === undefined || !/^[ +-]/.test(words)) return undefined;
  // The lines of the other side do not count.
  const [first, other] = words.startsWith("-") ? [before, "+"] : [after, "-"];
  const number = Number(first) + lines.slice(hunk + 1, at).filter((line) => !line.startsWith(other)).length;
  return { file: fileIn(lines), number, words };
}

function fileIn(lines: string[]): string {
  const sides = lines.filter((line) => /^(?:\+\+\+|---) (?!\/dev\/null)/.test(line));
  return (sides[1] ?? sides[0] ?? "").replace(/^\S+ (?:[ab]\/)?/, "").replace(/\t$/, "");
}
