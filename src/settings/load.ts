import { existsSync, readFileSync } from "node:fs";
import { extname, resolve } from "node:path";
import { describeSystemError, RalphError } from "../errors.js";
import { refuseSpecialFile } from "../plain-file.js";
import { findJsonMistake } from "./json.js";
import { DEFAULTS } from "./limits.js";
import type { SettingsFile } from "./merge.js";
import type { LoopSettings, Settings } from "./schema.js";

export interface LoadedSettings {
  settings: Settings;
  /** The files that were read, the later ones on top. */
  files: SettingsFile[];
}

export const BASE_FILE = ".ralph/settings.json";
export const LOCAL_FILE = ".ralph/settings.local.json";
export const SETTINGS_FILES = [BASE_FILE, LOCAL_FILE];

/** The settings of a workspace: base file (or `config` in its place), then the local overlay. */
export async function loadSettings(workspace: string, config?: string): Promise<LoadedSettings> {
  const present = [config ?? BASE_FILE, LOCAL_FILE].filter(
    (name) => name === config || existsSync(resolve(workspace, name)),
  );
  if (present.length === 0) return { settings: DEFAULTS, files: [] };
  const files: SettingsFile[] = [];
  for (const name of present) files.push({ name, content: await readSettingsFile(workspace, name) });
  const { validate } = await import("./validate.js");
  return { settings: validate(files), files };
}

/** The defaults of a loop over checks: `ralph_loop` as in YAML files, and `loop` over it. */
export function loopSection(settings: Settings): LoopSettings {
  return { ...settings.ralph_loop, ...settings.loop };
}

async function readSettingsFile(workspace: string, name: string): Promise<unknown> {
  const text = readText(resolve(workspace, name), name);
  return [".yaml", ".yml"].includes(extname(name).toLowerCase())
    ? parseYaml(text, name)
    : parseJson(text, name);
}

function readText(path: string, name: string): string {
  refuseSpecialFile(path, `settings file ${name}`);
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new RalphError(`cannot read settings file ${name}: ${describeSystemError(error)}`, {
      code: "settings_unreadable",
      cause: error,
    });
  }
}

async function parseYaml(text: string, name: string): Promise<unknown> {
  const { parseDocument } = await import("yaml");
  try {
    const document = parseDocument(text);
    // A tag or a directive that nobody knows is only warned of, and read as something else.
    const [mistake] = [...document.errors, ...document.warnings];
    if (mistake !== undefined) throw mistake;
    return document.toJS() ?? {};
  } catch (error) {
    throw malformed(name, ((error as Error).message.split("\n")[0] ?? "").replace(/:$/, ""), error);
  }
}

function parseJson(text: string, name: string): unknown {
  const content = text.replace(/^\uFEFF/, "");
  try {
    return JSON.parse(content);
  } catch (error) {
    const { line, column, found } = findJsonMistake(content);
    throw malformed(name, `unexpected ${found} at line ${line}, column ${column}`, error);
  }
}

function malformed(name: string, what: string, cause: unknown): RalphError {
  return new RalphError(`malformed settings file ${name}: ${what}`, { code: "settings_malformed", cause });
}
