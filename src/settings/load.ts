import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { describeSystemError, RalphError } from "../errors.js";
import { refuseSpecialFile } from "../records/files.js";
import { ralphHome } from "../records/home.js";
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

/** The user's own settings, those of the project, and the local overlay: each over the one before. */
export function settingsFiles(home = ralphHome()): string[] {
  return [join(home, "settings.json"), BASE_FILE, LOCAL_FILE];
}

/** The settings of a workspace: the user's, then the base file (or `config` in its place), then the local overlay. */
export async function loadSettings(
  workspace: string,
  config?: string,
  home?: string,
): Promise<LoadedSettings> {
  const names = settingsFiles(home).map((name) => (name === BASE_FILE ? (config ?? name) : name));
  const present = names.filter((name) => name === config || existsSync(resolve(workspace, name)));
  if (present.length === 0) return { settings: DEFAULTS, files: [] };
  const files: SettingsFile[] = [];
  for (const file of present) {
    const name = shortName(file);
    files.push({ name, content: await readSettingsFile(resolve(workspace, file), name) });
  }
  const { validate } = await import("./validate.js");
  return validate(files);
}

/** `~/.ralph/settings.json` */
export function shortName(file: string): string {
  const home = `${homedir()}/`;
  return file.startsWith(home) ? `~/${file.slice(home.length)}` : file;
}

/** The defaults of a loop over checks: `ralph_loop` as in YAML files, and `loop` over it. */
export function loopSection(settings: Settings): LoopSettings {
  return { ...settings.ralph_loop, ...settings.loop };
}

export async function readSettingsFile(path: string, name: string): Promise<unknown> {
  refuseSpecialFile(path, `settings file ${name}`);
  try {
    const text = readFileSync(path, "utf8");
    return /\.ya?ml$/i.test(name) ? await parseYaml(text, name) : await parseJson(text, name);
  } catch (error) {
    if (error instanceof RalphError) throw error;
    const what = `cannot read settings file ${name}: ${describeSystemError(error)}`;
    throw new RalphError(what, { code: "settings_unreadable", cause: error });
  }
}

async function parseYaml(text: string, name: string): Promise<unknown> {
  const { parseDocument } = await import("yaml");
  try {
    const document = parseDocument(text);
    // The parser only warns of an unknown tag or directive, and reads it as something else.
    const [mistake] = [...document.errors, ...document.warnings];
    if (mistake !== undefined) throw mistake;
    return document.toJS() ?? {};
  } catch (error) {
    throw malformed(name, ((error as Error).message.split("\n")[0] ?? "").replace(/:$/, ""), error);
  }
}

/** With comments, and commas after the last of a list. */
async function parseJson(text: string, name: string): Promise<unknown> {
  const content = text.replace(/^\uFEFF/, "");
  try {
    return JSON.parse(content);
  } catch (cause) {
    const { readJsonText } = await import("./json.js");
    const { value, mistake } = readJsonText(content);
    if (mistake === undefined) return value;
    throw malformed(name, mistake, cause);
  }
}

function malformed(name: string, what: string, cause: unknown): RalphError {
  return new RalphError(`malformed settings file ${name}: ${what}`, { code: "settings_malformed", cause });
}
