// biome-ignore lint/style/noRestrictedImports: it tells keys apart here, and reads no lines
import { emitKeypressEvents, type Interface } from "node:readline";
import { PassThrough } from "node:stream";

/** A character, or the name that Node has for a key; what was pasted is no command. */
export type Key = string | { pasted: string };

/** How long the second half of a key may take: an escape that nothing follows is the key of that name. */
const KEY_MS = 50;

/** Answers to questions that another program asked the terminal: nobody typed them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const ANSWERS = /\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)/g;

interface Pressed {
  name?: string;
  ctrl: boolean;
  meta: boolean;
}

/** Returns what takes the text that a terminal sends. */
export function keyReader(tell: (key: Key) => void): (text: string) => void {
  const input = new PassThrough();
  let pasted: string | undefined;
  emitKeypressEvents(input, { escapeCodeTimeout: KEY_MS } as unknown as Interface);
  input.on("keypress", (text: string | undefined, key: Pressed) => {
    if (key.name === "paste-start") pasted = "";
    else if (key.name === "paste-end") {
      tell({ pasted: pasted ?? "" });
      pasted = undefined;
    } else if (pasted !== undefined) pasted += text ?? "";
    else {
      const named = nameOf(text, key);
      if (named !== undefined) tell(named);
    }
  });
  return (text) => void input.write(text.replace(ANSWERS, ""));
}

/** undefined: Alt with a key means nothing here. */
function nameOf(text: string | undefined, { name, ctrl, meta }: Pressed): string | undefined {
  if (ctrl) return `ctrl+${name}`;
  if (meta && name !== "escape") return undefined;
  return text === undefined || /\p{Cc}/u.test(text) ? name : text;
}
