import { readFileSync } from "node:fs";
import { inPackage } from "../../../package-folder.cjs";
import { harmless } from "../../harmless.js";

/** Markup that ralph's own source and its style sheet hold: the class is not exported, so nothing else can make one. */
class Markup {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

export type { Markup };

/** null and an empty list leave nothing on the page. */
export type Part = Markup | string | number | null | readonly Part[];

/** Escapes every value, except what was made by itself. */
export function html(pieces: TemplateStringsArray, ...parts: Part[]): Markup {
  const [first = "", ...others] = pieces;
  if (pieces.slice(0, -1).some((piece) => piece.endsWith("=")))
    throw new TypeError("an attribute needs quotes");
  return new Markup(
    others.reduce((text, piece, index) => text + written(parts[index] ?? null) + piece, first),
  );
}

/** The one style sheet of the page. */
export function styleSheet(): Markup {
  return new Markup(readFileSync(inPackage("templates/report.css"), "utf8"));
}

function written(part: Part): string {
  if (part === null) return "";
  if (typeof part === "number") return String(part);
  if (typeof part === "string") return plain(part).replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? "");
  if (part instanceof Markup) return part.toString();
  return part.map(written).join("");
}

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text without anything that would steer the page or cannot be written as UTF-8. */
function plain(text: string): string {
  return harmless(text).replace(/\p{Surrogate}/gu, "\ufffd");
}

const MAX_CHARS = 20_000;
/** Terminal escapes fall away, so more than what is shown is read; but never a whole megabyte. */
const MAX_READ = MAX_CHARS * 4;

/** The end of a long text: there an agent says that it is done, and a check what went wrong. */
export function said(text: string, iteration: number): Markup | null {
  const end = plain(text.slice(-MAX_READ)).replace(/^\s*\n|\s+$/g, "");
  if (end === "") return null;
  const shown = end.slice(-MAX_CHARS).replace(/^[\udc00-\udfff]/, "");
  const left = Math.max(0, text.length - MAX_READ) + end.length - shown.length;
  const folder = String(iteration).padStart(3, "0");
  const note = html`<p class="note">The first ${left.toLocaleString("en")} characters are left out here.
    All of it is in <code>iterations/${folder}/</code> of the run’s records.</p>`;
  return html`${left === 0 ? null : note}<pre>${shown}</pre>`;
}

const MAX_BEGINNING = 500;

/** Enough of a command or a message to know it by. */
export function beginning(text: string): string {
  return text.length > MAX_BEGINNING ? `${text.slice(0, MAX_BEGINNING)}…` : text;
}
