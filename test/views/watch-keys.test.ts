import { expect, test, vi } from "vitest";
import { keyReader } from "../../src/views/watch/terminal.js";

test.each<[string, string[], string[]]>([
  ["characters", ["jK/é日😀"], ["j", "K", "/", "é", "日", "😀"]],
  ["arrows", ["\u001b[A\u001b[B\u001bOA\u001bOB"], ["up", "down", "up", "down"]],
  ["home and end", ["\u001b[H\u001b[1~\u001b[F\u001b[4~"], ["home", "home", "end", "end"]],
  ["pages", ["\u001b[5~\u001b[6~"], ["pageup", "pagedown"]],
  ["control keys", ["\u0003\u0004\u000c\u0015\u001a"], ["ctrl+c", "ctrl+d", "ctrl+l", "ctrl+u", "ctrl+z"]],
  ["enter and backspace", ["\r\n\u007f\b"], ["return", "enter", "backspace", "backspace"]],
  ["a key in two halves", ["j\u001b[", "A"], ["j", "up"]],
  ["an escape", ["\u001b"], ["escape"]],
  ["other keys by their names", ["\u001b[3~\u001bOPx"], ["delete", "f1", "x"]],
  ["nothing from Alt with a key", ["\u001bKj"], ["j"]],
  [
    "nothing from a late answer of the terminal",
    ["\u001b]11;rgb:ffff/ffff/ffff\u001b\\\u001bP1+r\u0007j"],
    ["j"],
  ],
  ["a paste, which is no command", ["\u001b[200~K", "y\u001b[201~j"], ["pasted K", "pasted y", "j"]],
])("a terminal sends %s", async (_, texts, expected) => {
  const keys: string[] = [];
  const read = keyReader((key, isPasted) => keys.push(isPasted ? `pasted ${key}` : key));
  for (const text of texts) read(text);
  await vi.waitFor(() => expect(keys).toEqual(expected));
});
