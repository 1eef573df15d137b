import { loadSettings } from "../settings/load.js";
import { isTree, type SettingsFile, type Tree } from "../settings/merge.js";
import { harmless, harmlessJson } from "../views/harmless.js";
import { tableLines } from "../views/table.js";
import { printAll } from "./output.js";
import { withoutSecrets } from "./shown-settings.js";

export interface ConfigFlags {
  config?: string;
  json?: boolean;
  schema?: boolean;
}

/** `ralph config`: the settings that are in force here, and where each comes from. */
export async function config(flags: ConfigFlags): Promise<number> {
  await printAll(`${flags.schema ? await schemaText() : await settingsText(flags)}\n`);
  return 0;
}

async function schemaText(): Promise<string> {
  const { jsonSchema } = await import("../settings/validate.js");
  return JSON.stringify(jsonSchema(), null, 2);
}

async function settingsText(flags: ConfigFlags): Promise<string> {
  const { settings, files } = await loadSettings(process.cwd(), flags.config);
  const shown = withoutSecrets(settings);
  const origins = originsOf(shown, files);
  if (flags.json) {
    const byKey = Object.fromEntries(origins.map(({ key, origin }) => [key, origin]));
    return harmlessJson({ files: files.map(({ name }) => name), settings: shown, origins: byKey }, 2);
  }
  const rows = origins.map(({ key, value, origin }) => [key, harmless(JSON.stringify(value)), origin]);
  const layout = { width: process.stdout.columns, elastic: 1 };
  return tableLines([["KEY", "VALUE", "FROM"], ...rows], layout).join("\n");
}

interface Origin {
  /** Dotted, such as `agent.command`. */
  key: string;
  value: unknown;
  /** The file it comes from; `default` when no file says it. */
  origin: string;
}

/** Every single value of the merged settings. A list is one value: it comes from one file as a whole. */
function originsOf(settings: object, files: SettingsFile[]): Origin[] {
  return leaves(settings as Tree, []).map(({ path, value }) => ({
    key: path.join("."),
    value,
    origin: files.findLast(({ content }) => says(content, path))?.name ?? "default",
  }));
}

function leaves(tree: Tree, above: string[]): { path: string[]; value: unknown }[] {
  return Object.entries(tree).flatMap(([key, value]) => {
    const path = [...above, key];
    return isTree(value) && Object.keys(value).length > 0 ? leaves(value, path) : [{ path, value }];
  });
}

function says(content: unknown, path: string[]): boolean {
  const found = path.reduce<unknown>(
    (inner, key) => (isTree(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
    content,
  );
  return found !== undefined;
}
