import { writeAtomic } from "../records/files.js";
import { writableHome } from "../records/home.js";
import { createRedactor, redactDeep } from "../records/redact.js";
import { loadSettings } from "../settings/load.js";
import { isTree, type JsonTree, nullsIn, type SettingsFile, valueAt } from "../settings/merge.js";
import type { AgentProfile, Settings } from "../settings/schema.js";
import { harmless } from "../views/harmless.js";
import { tableLines } from "../views/layout.js";
import { prepareRuntimeFolder, requireOwnFolder } from "../workspace/runtime.js";
import { failure, note, printAs, say, warn } from "./output.js";

/** `ralph config`: the settings in force here, and the file that sets each. */
export async function config(flags: { config?: string; json?: boolean; schema?: boolean }): Promise<number> {
  if (flags.schema) {
    const { jsonSchema } = await import("../settings/validate.js");
    return printAs({ json: true }, jsonSchema(), () => []);
  }
  const { settings, files } = await loadSettings(process.cwd(), flags.config);
  const shown = withoutSecrets(settings);
  // A list is one value: the whole list comes from one file.
  const off = files.flatMap(({ content }) => nullsIn(content as JsonTree));
  const isOff = (path: string[]): boolean =>
    valueAt(shown, path) === undefined && topValue(files, path) === null;
  const nulls = new Map(off.filter(isOff).map((path) => [path.join("."), { path, value: null }]));
  const origins = [...leaves(shown as object as JsonTree, []), ...nulls.values()].map(({ path, value }) => ({
    key: path.join("."),
    value,
    origin: files.findLast(({ content }) => valueAt(content, path) !== undefined)?.name ?? "default",
  }));
  const byKey = Object.fromEntries(origins.map(({ key, origin }) => [key, origin]));
  const rows = origins.map(({ key, value, origin }) => [key, harmless(JSON.stringify(value)), origin]);
  const layout = { width: process.stdout.columns, elastic: 1 };
  const document = { files: files.map(({ name }) => name), settings: shown, origins: byKey };
  return printAs(flags, document, () => tableLines([["KEY", "VALUE", "FROM"], ...rows], layout));
}

/** `ralph config get KEY`: one value; exit 1 where nothing sets it. */
export async function get(key: string, flags: { config?: string; json?: boolean }): Promise<number> {
  const path = await pathOf(key);
  const { settings, files } = await loadSettings(process.cwd(), flags.config);
  const value =
    valueAt(withoutSecrets(settings), path) ?? (topValue(files, path) === null ? null : undefined);
  if (value === undefined) {
    note(`${key} is not set`);
    return 1;
  }
  return printAs(flags, value, () => [harmless(typeof value === "string" ? value : JSON.stringify(value))]);
}

/** The value in the file that wins; null switches off the others. */
function topValue(files: SettingsFile[], path: string[]): unknown {
  return files.map(({ content }) => valueAt(content, path)).findLast((value) => value !== undefined);
}

/** The words of a key, by its name of today. */
async function pathOf(key: string): Promise<string[]> {
  const { requireKey } = await import("../settings/validate.js");
  const { todaysName } = await import("../settings/merge.js");
  const [top = "", ...path] = key.split(".");
  requireKey([todaysName(top), ...path]);
  return [todaysName(top), ...path];
}

/** `ralph config set KEY VALUE`: writes one value into the project's file, the local one, or the user's. */
export async function set(
  key: string,
  value: string,
  { user = false, local = false }: { user?: boolean; local?: boolean },
): Promise<number> {
  if (user && local) throw failure("flag_invalid", "--user and --local exclude each other");
  const path = await pathOf(key);
  const workspace = process.cwd();
  const { withKey } = await import("../settings/edit.js");
  const edited = await withKey(workspace, user ? 0 : local ? 2 : 1, key, value);
  if (user) writableHome();
  else {
    requireOwnFolder(workspace);
    prepareRuntimeFolder(workspace);
  }
  writeAtomic(edited.path, edited.text);
  const { files } = await loadSettings(workspace);
  const over = files.findLast(({ content }) => valueAt(content, path) !== undefined);
  if (over !== undefined && over.name !== edited.name)
    warn(`${over.name} sets ${path.join(".")}, too, and wins`);
  return say(`set ${path.join(".")} in ${edited.name}`);
}

function leaves(tree: JsonTree, above: string[]): { path: string[]; value: unknown }[] {
  return Object.entries(tree).flatMap(([key, value]) => {
    const path = [...above, key];
    return isTree(value) && Object.keys(value).length > 0 ? leaves(value, path) : [{ path, value }];
  });
}

/** Settings without secrets. An agent's variables are most often keys, whatever their names. */
export function withoutSecrets(settings: Settings): Settings {
  const { agent, agents, notify } = settings;
  const hidden = {
    ...settings,
    // The rest of an address is most often a key.
    ...(notify?.webhook && {
      notify: { ...notify, webhook: `${new URL(notify.webhook).origin}/[redacted]` },
    }),
    ...(agent && { agent: withoutValues(agent) }),
    ...(agents && {
      agents: Object.fromEntries(
        Object.entries(agents).map(([name, profile]) => [name, withoutValues(profile)]),
      ),
    }),
  };
  return redactDeep(hidden, createRedactor(process.env));
}

function withoutValues<Profile extends Pick<AgentProfile, "env">>(profile: Profile): Profile {
  if (profile.env === undefined) return profile;
  const names = Object.keys(profile.env).map((name) => [name, "[redacted]"]);
  return { ...profile, env: Object.fromEntries(names) };
}
