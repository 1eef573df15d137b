import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Place } from "../../src/guard/place.js";

export interface Entry {
  /** The heading that it stands under. */
  section: string;
  command: string;
}

/** The commands of a file here. */
export function corpus(name: string): Entry[] {
  const entries: Entry[] = [];
  let section = "";
  for (const line of readFileSync(join(import.meta.dirname, name), "utf8").split("\n")) {
    if (line.startsWith("## ")) section = line.slice(3);
    else if (line !== "" && (!line.startsWith("# ") || line.includes("¶")))
      entries.push({ section, command: line.replaceAll("¶", "\n") });
  }
  return entries;
}

/** A project in a home that is on no machine: what is on this one plays no part. */
export const PLACE: Place = {
  cwd: "/home/somebody/project",
  home: "/home/somebody",
  workspace: "/home/somebody/project",
  ralphHome: "/home/somebody/.ralph",
  allowed: { exceptions: [], ignored: [] },
};
