import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { orElse, RalphError } from "../errors.js";
import { readSettingsFile, settingsFiles, shortName } from "./load.js";
import { inTodaysWords, isTree, type SettingsFile, todaysName } from "./merge.js";
import { validate } from "./validate.js";

/** A file with a key set, not written; `level`: 0 the user's, 1 the project's, 2 the local one. */
export async function withKey(workspace: string, level: number, key: string, value: string) {
  const below: SettingsFile[] = [];
  for (const file of settingsFiles().slice(0, level)) below.push(...(await fileAt(workspace, file)));
  const file = settingsFiles()[level] as string;
  const path = resolve(workspace, file);
  const name = shortName(file);
  const [old = { name, content: {} }] = await fileAt(workspace, file);
  const { modify, applyEdits } = await import("jsonc-parser");
  const text = existsSync(path) ? readFileSync(path, "utf8") : "{}\n";
  const formattingOptions = { insertSpaces: true, tabSize: 2, insertFinalNewline: true };
  // The words of the key, as the file writes it.
  const [top = "", ...inner] = key.split(".");
  const today = todaysName(top);
  const words = [new Map(Object.entries(inTodaysWords(old).older ?? {})).get(today) ?? today, ...inner];
  let first: unknown;
  for (const given of candidates(value))
    try {
      const edits = modify(text, words, given, { formattingOptions });
      validate([...below, { name, content: withValue(old.content, words, given) }]);
      return { path, name, text: applyEdits(text, edits) };
    } catch (error) {
      if (!(error instanceof RalphError)) throw error;
      first ??= error;
    }
  throw first;
}

async function fileAt(workspace: string, file: string): Promise<SettingsFile[]> {
  const path = resolve(workspace, file);
  if (!existsSync(path)) return [];
  const name = shortName(file);
  return [{ name, content: await readSettingsFile(path, name) }];
}

/** What is given on a command line: JSON where that fits, else a text, else a list of one. */
function candidates(value: string): unknown[] {
  const texts = [value, [value]];
  return orElse(() => [JSON.parse(value), ...texts], texts);
}

function withValue(content: unknown, [key = "", ...path]: string[], value: unknown): unknown {
  const tree = isTree(content) ? content : {};
  const inner = path.length === 0 ? value : withValue(tree[key], path, value);
  return Object.fromEntries([...Object.entries(tree).filter(([name]) => name !== key), [key, inner]]);
}
