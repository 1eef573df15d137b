import { parsePatch, type StructuredPatch } from "diff";
import { useEffect, useState } from "preact/hooks";
import type { DiffPage, RunPage } from "../api.js";
import { act, SayForm } from "./actions.jsx";
import { Empty, Jump, Loading } from "./parts.jsx";
import { ask, overview, type Place, queryOf } from "./store.js";

/** What the run has changed since it began, or in one iteration, or a lane. */
export function DiffView({ page, place }: { page: RunPage; place: Place }) {
  const { id } = page.row;
  const [diff, setDiff] = useState<DiffPage | undefined>(undefined);
  const load = (): void => {
    const failed = (error: Error): void => setDiff({ commit: null, pieces: [], why: error.message });
    void ask<DiffPage>(`/api/runs/${id}/diff${queryOf(place)}`).then(setDiff, failed);
  };
  useEffect(load, [id, place.iteration, place.lane, page.iterations.length]);
  if (diff === undefined) return <Loading lines={10} />;
  const canComment = overview.value?.readOnly === false && page.actions.includes("steer");
  const comment = (piece: string, line: number, text: string): Promise<boolean> => {
    const wish = { action: "comment", piece, commit: diff.commit, line, text };
    return act(id, { ...wish, ...place });
  };
  return (
    <div class="diff">
      <Jump page={page} tab="diff" place={place} whole="whole run" />
      {diff.why !== undefined && <Empty>{diff.why}</Empty>}
      {diff.why === undefined && diff.pieces.length === 0 && <Empty>Nothing has changed.</Empty>}
      {diff.pieces.length > 0 && (
        <p class="note bar">
          <span>
            {place.iteration === undefined ? "Since the beginning" : `In iteration ${place.iteration}`}
            {place.lane != null && ` of ${place.lane}`}
            {diff.commit !== null && `, at commit ${diff.commit.slice(0, 10)}`}.
            {canComment && " A click on the number of a line comments it, for the next iteration."}
          </span>
          <button type="button" onClick={load}>
            Read again
          </button>
        </p>
      )}
      {diff.pieces.map(({ id: piece, patch }) => (
        <File
          key={piece}
          patch={patch}
          onComment={canComment ? (line, text) => comment(piece, line, text) : undefined}
        />
      ))}
    </div>
  );
}

/** Resolves to whether the comment was taken. */
type OnComment = ((line: number, text: string) => Promise<boolean>) | undefined;

function parsed(patch: string): StructuredPatch | undefined {
  try {
    return parsePatch(patch)[0];
  } catch {
    return undefined;
  }
}

function nameOf({ oldFileName = "", newFileName = "" }: Partial<StructuredPatch>): string {
  const name = newFileName === "/dev/null" ? oldFileName : newFileName;
  return name.replace(/^[ab]\//, "");
}

/** Longer ones are folded at first. */
const FOLDED_LINES = 400;
const MOST_LINES = 5000;

function File({ patch, onComment }: { patch: string; onComment: OnComment }) {
  const file = parsed(patch);
  const lines = patch.split("\n");
  const begin = lines.findIndex((line) => line.startsWith("@@"));
  const shown = begin === -1 ? [] : lines.slice(begin, begin + MOST_LINES);
  const count = (sign: string): number => shown.filter((line) => line.startsWith(sign)).length;
  const name = nameOf(file ?? {}) || (/ b\/(.*)$/.exec(lines[0] ?? "")?.[1] ?? "a file");
  return (
    <details class="file" open={shown.length < FOLDED_LINES}>
      <summary data-row>
        <code>{name}</code>{" "}
        <small>
          <span class="added">+{count("+")}</span> <span class="deleted">−{count("-")}</span>
          {begin === -1 && " no lines to show"}
        </small>
      </summary>
      <div class="scroll">
        <table class="patch">
          <tbody>
            {rowsOf(shown, begin).map((row) => (
              <Line key={row.at} row={row} name={name} onComment={onComment} />
            ))}
          </tbody>
        </table>
      </div>
      {lines.length - begin > MOST_LINES && <p class="note">The rest is left out here.</p>}
    </details>
  );
}

interface PatchRow {
  /** Which line of the patch it is. */
  at: number;
  sign: string;
  text: string;
  before: number | null;
  after: number | null;
}

function rowsOf(lines: string[], begin: number): PatchRow[] {
  let [before, after] = [0, 0];
  return lines
    .filter((line, index) => line !== "" || index < lines.length - 1)
    .map((text, index) => {
      const row = { at: begin + index, sign: text[0] ?? " ", text };
      const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(text);
      if (hunk !== null) [before, after] = [Number(hunk[1]), Number(hunk[2])];
      if (hunk !== null || row.sign === "\\") return { ...row, before: null, after: null };
      const own = { before: row.sign === "+" ? null : before, after: row.sign === "-" ? null : after };
      if (own.before !== null) before += 1;
      if (own.after !== null) after += 1;
      return { ...row, ...own };
    });
}

const LOOKS: Record<string, string> = { "+": "added", "-": "deleted", "@": "hunk" };

function Line({ row, name, onComment }: { row: PatchRow; name: string; onComment: OnComment }) {
  const [isOpen, setOpen] = useState(false);
  const { at, sign, text, before, after } = row;
  const number = after ?? before;
  const canOpen = onComment !== undefined && number !== null;
  return (
    <>
      <tr class={LOOKS[sign] ?? ""}>
        <td class="number">{before}</td>
        <td class="number">
          {canOpen ? (
            <button
              type="button"
              aria-label={`comment line ${number} of ${name}`}
              onClick={() => setOpen(!isOpen)}
            >
              {after ?? "·"}
            </button>
          ) : (
            after
          )}
        </td>
        <td>
          <pre>{text}</pre>
        </td>
      </tr>
      {isOpen && onComment !== undefined && (
        <tr class="comment">
          <td colSpan={3}>
            <SayForm
              label="comment"
              placeholder="What the next iteration should do about this line"
              onSend={async (words) => {
                const isTaken = await onComment(at, words);
                setOpen(!isTaken);
                return isTaken;
              }}
            >
              <button type="submit" class="first">
                Comment
              </button>
              <button type="button" onClick={() => setOpen(false)}>
                Cancel
              </button>
            </SayForm>
          </td>
        </tr>
      )}
    </>
  );
}
