/** One of the files that the settings of a workspace are made of. */
export interface SettingsFile {
  /** As the user knows it, relative to the workspace. */
  name: string;
  content: unknown;
}

/** The later ones on top. */
export function mergeFiles(files: SettingsFile[]): unknown {
  return files.reduce<unknown>((merged, { content }) => deepMerge(merged, content), {});
}

export type Tree = { [key: string]: unknown };

/** Objects are merged key by key; scalars and arrays of the overlay replace those of the base. */
export function deepMerge(base: unknown, overlay: unknown): unknown {
  if (!isTree(base) || !isTree(overlay)) return overlay;
  const merged: Tree = Object.assign(Object.create(null), base);
  for (const [key, value] of Object.entries(overlay)) {
    merged[key] = Object.hasOwn(base, key) ? deepMerge(base[key], value) : value;
  }
  return { ...merged };
}

export function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
