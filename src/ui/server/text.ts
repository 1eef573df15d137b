import { createRedactor } from "../../records/redact.js";
import { harmless } from "../../views/harmless.js";

/** How programs set colours: the only sequence of a terminal that the page understands. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it begins with one
const COLOUR = /(\u001b\[[0-9;]*m)/;

/** Fields that hold what a program printed: its colours stay. */
const PRINTED = ["more", "output", "screen"];

const redact = createRedactor(process.env);

/** As JSON in which no text is a secret, steers a page or a terminal, or turns the direction of what stands around it. */
export function shownJson(value: unknown): string {
  return JSON.stringify(value, (key, part: unknown) => {
    if (typeof part !== "string") return part;
    return redact(PRINTED.includes(key) ? printed(part) : harmless(part));
  });
}

/** Text with its colours alone. */
function printed(text: string): string {
  return text
    .split(COLOUR)
    .map((piece, index) => (index % 2 === 1 ? piece : harmless(piece)))
    .join("");
}

/** The end of a long text: there an agent says that it is done, and a check what went wrong. */
export function endOf(text: string, chars: number): string {
  return text.length <= chars ? text : `[…]\n${text.slice(-chars)}`;
}
