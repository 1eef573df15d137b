import { html, type Markup, plain } from "./markup.js";

const MAX_CHARS = 20_000;
/** Terminal escapes fall away, so more than what is shown is looked at; but never a whole megabyte. */
const MAX_LOOKED_AT = MAX_CHARS * 4;

/** The end of what somebody said: there an agent says that it is done, and a check what went wrong. */
export function said(text: string, iteration: number): Markup | null {
  const end = plain(text.slice(-MAX_LOOKED_AT)).replace(/^\s*\n|\s+$/g, "");
  if (end === "") return null;
  const shown = end.slice(-MAX_CHARS).replace(/^[\udc00-\udfff]/, "");
  const left = Math.max(0, text.length - MAX_LOOKED_AT) + end.length - shown.length;
  return html`${left === 0 ? null : cutNote(left, iteration)}<pre>${shown}</pre>`;
}

const MAX_BEGINNING = 500;

/** Enough of a command or a message to know it by. */
export function beginning(text: string): string {
  return text.length > MAX_BEGINNING ? `${text.slice(0, MAX_BEGINNING)}…` : text;
}

function cutNote(left: number, iteration: number): Markup {
  return html`<p class="note">The first ${left.toLocaleString("en")} characters are left out here.
    All of it is in <code>iterations/${folderOf(iteration)}/</code> of the run’s records.</p>`;
}

function folderOf(iteration: number): string {
  return String(iteration).padStart(3, "0");
}
