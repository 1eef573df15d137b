import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { RalphError } from "../errors.js";
import { readSettingsFile, settingsFiles, shortName } from "./load.js";
import { isTree, type SettingsFile } from "./merge.js";
import { inTodaysWords, todaysName } from "./older.js";
import { validate } from "./validate.js";

/** A file as it is after a key was set, and its path. */
export interface Edited {
  path: string;
  name: string;
  text: string;
}

/** Sets a key of one of the files: `level` 0 is the user's, 1 the project's, 2 the local one. Writes nothing. */
export async function withKey(workspace: string, level: number, key: string, value: string): Promise<Edited> {
  const below: SettingsFile[] = [];
  for (const file of settingsFiles().slice(0, level)) below.push(...(await fileAt(workspace, file)));
  const file = settingsFiles()[level] as string;
  const path = resolve(workspace, file);
  const name = shortName(file);
  const [old = { name, content: {} }] = await fileAt(workspace, file);
  const { modify, applyEdits } = await import("jsonc-parser");
  const text = existsSync(path) ? readFileSync(path, "utf8") : "{}\n";
  const formattingOptions = { insertSpaces: true, tabSize: 2, insertFinalNewline: true };
  const changed = (given: unknown): Edited => {
    const edits = modify(text, keyIn(old, key), given, { formattingOptions });
    return { path, name, text: applyEdits(text, edits) };
  };
  return firstValid(candidates(value), (given) => {
    const edited = changed(given);
    validate([...below, { name, content: withValue(old.content, keyIn(old, key), given) }]);
    return edited;
  });
}

async function fileAt(workspace: string, file: string): Promise<SettingsFile[]> {
  const path = resolve(workspace, file);
  if (!existsSync(path)) return [];
  const name = shortName(file);
  return [{ name, content: await readSettingsFile(path, name) }];
}

/** The words of a key, as the file writes it. */
function keyIn(file: SettingsFile, key: string): string[] {
  const [top = "", ...path] = key.split(".");
  const today = todaysName(top);
  return [new Map(Object.entries(inTodaysWords(file).older ?? {})).get(today) ?? today, ...path];
}

/** What is given on a command line: JSON where that fits, else a text, else a list of one. */
function candidates(value: string): unknown[] {
  const texts = [value, [value]];
  try {
    return [JSON.parse(value), ...texts];
  } catch {
    return texts;
  }
}

function firstValid<Result>(values: unknown[], attempt: (value: unknown) => Result): Result {
  let first: unknown;
  for (const value of values) {
    try {
      return attempt(value);
    } catch (error) {
      if (!(error instanceof RalphError)) throw error;
      first ??= error;
    }
  }
  throw first;
}

function withValue(content: unknown, [key = "", ...path]: string[], value: unknown): unknown {
  const tree = isTree(content) ? content : {};
  const inner = path.length === 0 ? value : withValue(tree[key], path, value);
  return Object.fromEntries([...Object.entries(tree).filter(([name]) => name !== key), [key, inner]]);
}
