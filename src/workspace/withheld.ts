type Settings = [name: string, value: string][];

/** By the folder that git is run in, or one above it. */
const withheld = new Map<string, Settings>();

/** From now on git runs none of the filters that these settings name, where ralph runs it there. */
export function withholdFilters(folder: string, names: string[]): void {
  const filters = new Set(names.map((name) => /^filter\..*(?=\.)/s.exec(name)?.[0] ?? ""));
  filters.delete("");
  if (filters.size === 0) withheld.delete(folder);
  else withheld.set(folder, [...filters].flatMap(without));
}

export function withheldIn(folder: string): Settings {
  for (const [above, settings] of withheld) if (`${folder}/`.startsWith(`${above}/`)) return settings;
  return [];
}

function without(filter: string): Settings {
  const programs = ["process", "clean", "smudge"].map((name): Settings[number] => [`${filter}.${name}`, ""]);
  return [...programs, [`${filter}.required`, "false"]];
}
