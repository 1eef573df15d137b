import { statSync } from "node:fs";
import { resolve } from "node:path";
import { AGENT_NAMES } from "../../agents/index.js";
import { which } from "../../process/which.js";
import { loadSettings, SETTINGS_FILES } from "../../settings/load.js";
import type { Candidate } from "./values.js";

/** Known agents, those on PATH first, then the profiles in the settings of the folder. */
export async function agents(folder: string): Promise<Candidate[]> {
  const own = await profiles(folder).catch((): string[] => []);
  const known = AGENT_NAMES.filter((name) => !own.includes(name));
  const isHere = (name: string): boolean => which(name, folder).status === "found";
  return [
    ...described(known.filter(isHere), "on PATH"),
    ...described(
      known.filter((name) => !isHere(name)),
      "not on PATH",
    ),
    ...described(own, "profile in the settings"),
  ];
}

function described(names: string[], description: string): Candidate[] {
  return names.map((value) => ({ value, description }));
}

async function profiles(folder: string): Promise<string[]> {
  if (!SETTINGS_FILES.every((name) => isAbsentOrPlain(resolve(folder, name)))) return [];
  const { settings } = await loadSettings(folder);
  return Object.keys(settings.agents ?? {});
}

/** A pipe would be waited for. */
function isAbsentOrPlain(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? true;
}
