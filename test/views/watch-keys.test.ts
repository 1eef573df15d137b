import { expect, test } from "vitest";
import { endOfKeys, type Key, readKeys } from "../../src/views/watch/keys.js";

test.each<[string, string, Key[], string]>([
  ["characters", "jK/é日😀", ["j", "K", "/", "é", "日", "😀"], ""],
  ["arrows", "\u001b[A\u001b[B\u001bOA\u001bOB", ["up", "down", "up", "down"], ""],
  ["home and end", "\u001b[H\u001b[1~\u001b[F\u001b[4~", ["home", "home", "end", "end"], ""],
  ["pages", "\u001b[5~\u001b[6~", ["page up", "page down"], ""],
  ["control keys", "\u0003\u0004\u000c\u0015\u001a", ["ctrl+c", "ctrl+d", "ctrl+l", "ctrl+u", "ctrl+z"], ""],
  ["enter and backspace", "\r\n\u007f\b", ["enter", "enter", "backspace", "backspace"], ""],
  ["a half key", "j\u001b[", ["j"], "\u001b["],
  ["an escape that may become more", "\u001b", [], "\u001b"],
  ["keys without a meaning", "\u0001\u001b[3~\u001b[1;5C\u001bOPx", ["x"], ""],
  ["Alt with a key", "\u001bKj", ["j"], ""],
  ["a click and a focus", "\u001b[<0;10;5M\u001b[Ix", ["x"], ""],
  ["a late answer of the terminal", "\u001b]11;rgb:ffff/ffff/ffff\u001b\\\u001bP1+r\u0007j", ["j"], ""],
  ["half an answer", "\u001b]11;rgb:ff", [], "\u001b]11;rgb:ff"],
  ["a paste, which is no command", "\u001b[200~Ky\nq\u001b[201~j", [{ pasted: "Ky\nq" }, "j"], ""],
  ["half a paste", "\u001b[200~Ky", [], "\u001b[200~Ky"],
])("reads %s", (_, text, keys, rest) => {
  expect(readKeys(text)).toEqual({ keys, rest });
});

test.each<[string, string, Key[], string]>([
  ["an escape is the key", "\u001b", ["escape"], ""],
  ["half a key is nothing", "\u001b[", [], ""],
  ["half a paste still waits", "\u001b[200~Ky", [], "\u001b[200~Ky"],
])("when nothing follows, %s", (_, rest, keys, left) => {
  expect(endOfKeys({ keys: [], rest })).toEqual({ keys, rest: left });
});
