import { createRedactor, redactDeep } from "../records/redact.js";
import { loadSettings } from "../settings/load.js";
import { isTree, type Tree } from "../settings/merge.js";
import type { Settings } from "../settings/schema.js";
import { harmless } from "../views/harmless.js";
import { tableLines } from "../views/table.js";
import { printAs } from "./output.js";

/** `ralph config`: the settings that are in force here, and where each comes from. */
export async function config(flags: { config?: string; json?: boolean; schema?: boolean }): Promise<number> {
  if (flags.schema) {
    const { jsonSchema } = await import("../settings/validate.js");
    await printAs({ json: true }, jsonSchema(), () => []);
    return 0;
  }
  const { settings, files } = await loadSettings(process.cwd(), flags.config);
  const shown = withoutSecrets(settings);
  // A list is one value: it comes from one file as a whole.
  const origins = leaves(shown as object as Tree, []).map(({ path, value }) => ({
    key: path.join("."),
    value,
    origin: files.findLast(({ content }) => says(content, path))?.name ?? "default",
  }));
  const byKey = Object.fromEntries(origins.map(({ key, origin }) => [key, origin]));
  const rows = origins.map(({ key, value, origin }) => [key, harmless(JSON.stringify(value)), origin]);
  const layout = { width: process.stdout.columns, elastic: 1 };
  await printAs(flags, { files: files.map(({ name }) => name), settings: shown, origins: byKey }, () =>
    tableLines([["KEY", "VALUE", "FROM"], ...rows], layout),
  );
  return 0;
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

/** Settings as they may be shown. Variables for an agent are most often keys, whatever they are called. */
export function withoutSecrets(settings: Settings): Settings {
  const { agent, agents, notify } = settings;
  const hidden = {
    ...settings,
    ...(notify?.webhook && { notify: { ...notify, webhook: hostOf(notify.webhook) } }),
    ...(agent && { agent: withoutValues(agent) }),
    ...(agents && {
      agents: Object.fromEntries(
        Object.entries(agents).map(([name, profile]) => [name, withoutValues(profile)]),
      ),
    }),
  };
  return redactDeep(hidden, createRedactor(process.env));
}

/** The rest of an address is most often a key. */
function hostOf(address: string): string {
  return `${new URL(address).origin}/[redacted]`;
}

function withoutValues<Profile extends { env?: Record<string, string> | undefined }>(
  profile: Profile,
): Profile {
  if (profile.env === undefined) return profile;
  const names = Object.keys(profile.env).map((name) => [name, "[redacted]"]);
  return { ...profile, env: Object.fromEntries(names) };
}
