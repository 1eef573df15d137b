import { harmless } from "../../harmless.js";

/** Markup that stands in ralph's own source: the class is not exported, so nothing else can make one. */
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
export function plain(text: string): string {
  return harmless(text).replace(/\p{Surrogate}/gu, "\ufffd");
}
