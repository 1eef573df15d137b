import { readFileSync } from "node:fs";
import { inPackage } from "../../package-folder.cjs";
import { harmless } from "../harmless.js";

/** Markup that ralph's own source and its style sheet hold: the class is not exported, so nothing else can make one. */
class Markup {
  constructor(private readonly text: string) {}

  toString(): string {
    return this.text;
  }
}

export type { Markup };

/** null and an empty list leave nothing on the page. */
export type Content = Markup | string | number | null | readonly Content[];

/** Escapes every value, except what was made by itself. */
export function html(pieces: TemplateStringsArray, ...parts: Content[]): Markup {
  const [first = "", ...others] = pieces;
  if (pieces.slice(0, -1).some((piece) => piece.endsWith("=")))
    throw new TypeError("an attribute needs quotes");
  return new Markup(
    others.reduce((text, piece, index) => text + written(parts[index] ?? null) + piece, first),
  );
}

/** An element, with everything in it escaped. An attribute that is undefined is left out. */
export function element(
  tag: string,
  attributes: Record<string, string | number | undefined>,
  ...children: Content[]
): Markup {
  const own = Object.entries(attributes).map(([name, value]) =>
    value === undefined ? "" : ` ${name}="${written(value)}"`,
  );
  return new Markup(`<${tag}${own.join("")}>${written(children)}</${tag}>`);
}

export function styleSheet(): Markup {
  const files = ["templates/tokens.css", "templates/parts.css", "templates/report.css"];
  return new Markup(files.map((file) => readFileSync(inPackage(file), "utf8")).join(""));
}

function written(part: Content): string {
  if (part === null || part instanceof Markup) return String(part ?? "");
  if (typeof part === "object") return part.map(written).join("");
  return plain(String(part)).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** Text without anything that would steer the page or cannot be written as UTF-8. */
function plain(text: string): string {
  return harmless(text).replace(/\p{Surrogate}/gu, "\ufffd");
}

/** A part of the page; one that `scrolls` may be wider than a phone, or higher than a screen. */
export function section(
  title: string,
  shown: Content,
  { scrolls = "", below = null as Content } = {},
): Markup {
  const id = title.toLowerCase().replaceAll(" ", "-");
  const box = html`<div class="scroll ${scrolls}" role="group" aria-labelledby="${id}" tabindex="0">${shown}</div>`;
  return html`<section aria-labelledby="${id}">
    <h2 id="${id}">${title}</h2>
    ${scrolls === "" ? shown : box}
    ${below}
  </section>`;
}

const MAX_CHARS = 20_000;

/** The end of a long text: agents say there that they are done, and checks what failed. */
export function said(text: string, iteration: number): Markup | null {
  const end = plain(text.slice(-MAX_CHARS)).replace(/^\s*\n|\s+$/g, "");
  if (end === "") return null;
  const left = Math.max(0, text.length - MAX_CHARS);
  const folder = String(iteration).padStart(3, "0");
  const note = html`<p class="note">The first ${left.toLocaleString("en")} characters are left out here.
    All of it is in <code>iterations/${folder}/</code> of the run’s records.</p>`;
  return html`${left === 0 ? null : note}<pre>${end}</pre>`;
}

const MAX_BEGINNING = 500;

/** Enough of a command or a message to recognise it. */
export function beginning(text: string): string {
  return text.length > MAX_BEGINNING ? `${text.slice(0, MAX_BEGINNING)}…` : text;
}
