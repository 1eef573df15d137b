import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { which } from "../../src/process/which.js";
import { temporaryFolder } from "../kit.js";

/** `first/` and `second/`, with these programs in them: a mode, or what a link leads to. */
function folders(entries: Record<string, number | string>): string {
  const root = temporaryFolder();
  for (const folder of ["first", "second"]) mkdirSync(join(root, folder));
  for (const [path, entry] of Object.entries(entries)) {
    if (typeof entry === "string") symlinkSync(entry, join(root, path));
    else writeFileSync(join(root, path), "#!/bin/sh\n", { mode: entry });
  }
  return root;
}

const [PROGRAM, FILE] = [0o755, 0o644];

it.each<[string, Record<string, number | string>, string, string, string]>([
  [
    "the first of that name",
    { "first/a": PROGRAM, "second/a": PROGRAM },
    "a",
    "first:second",
    "found first/a",
  ],
  ["the only one of that name", { "second/a": PROGRAM }, "a", "first:missing:second", "found second/a"],
  ["what can be executed", { "first/a": FILE, "second/a": PROGRAM }, "a", "first:second", "found second/a"],
  ["nothing in the current folder", { a: PROGRAM }, "a", ":first:", "not_found"],
  ["a path with a slash", { "first/a": PROGRAM }, "first/a", "", "found first/a"],
  ["a plain file by its path", { a: FILE }, "./a", "", "not_executable a"],
  ["a link to a program", { "second/b": PROGRAM, "first/a": "../second/b" }, "a", "first", "found first/a"],
  ["no link that leads nowhere", { "first/a": "nowhere" }, "a", "first", "not_found"],
])("which finds %s", (_, entries, program, path, expected) => {
  const root = folders(entries);
  const onPath = path.replaceAll(/\w+/g, (name) => join(root, name));
  const [status, at] = expected.split(" ");
  expect(which(program, root, onPath)).toEqual({ status, ...(at && { path: join(root, at) }) });
});
