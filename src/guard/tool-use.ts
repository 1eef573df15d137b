import { fileURLToPath } from "node:url";
import { shown } from "./call.js";
import { type Finding, type Judged, unjudged, type Verdict, verdictOf } from "./finding.js";
import { list } from "./list.js";
import { patchedPaths } from "./patch.js";
import { forgetLinks, resolvePath } from "./paths.js";
import type { Place } from "./place.js";
import { protection } from "./protected.js";
import { isWords, ranBy } from "./ran-by.js";
import { secretAt } from "./secret-files.js";

/** A call of a tool, as agents tell it before they make it. */
export interface ToolUse {
  tool: string;
  input: Record<string, unknown>;
}

/** What would happen to a call of a tool. Tools that neither run, write nor read files pass. */
export function judgeToolUse({ tool, input }: ToolUse, around: Place): Verdict {
  try {
    return judgeParts({ tool, input }, around);
  } catch (error) {
    return verdictOf([unjudged(error, tool)]);
  }
}

function judgeParts({ tool, input }: ToolUse, around: Place): Verdict {
  forgetLinks();
  const place = placeOf(input, around);
  const verdicts = [ranBy({ tool, input }, place), changedBy(tool, input, place), readBy(tool, input, place)];
  const findings = verdicts.flatMap(({ refusals, warnings }) => [...refusals, ...warnings]);
  return verdictOf(findings);
}

const NOTHING: Verdict = { allowed: true, refusals: [], warnings: [] };

/** Codex tells the folder of a command with it. */
function placeOf(input: Record<string, unknown>, place: Place): Place {
  const folder = [input["workdir"], input["cwd"]].find((value) => typeof value === "string" && value !== "");
  if (typeof folder !== "string") return place;
  return { ...place, cwd: resolvePath(folder, { cwd: place.cwd, place }) };
}

const WRITES = list(
  "write edit create delete remove move rename patch replace insert append save mkdir upload copy",
);
const PATH_NAMES = list(`
  file_path notebook_path path filePath absolute_path destination source target_file new_path old_path
  dir_path file filename uri files paths
`);

function writes(tool: string): boolean {
  const name = tool.toLowerCase();
  return WRITES.some((verb) => name.includes(verb));
}

function changedBy(tool: string, input: Record<string, unknown>, place: Place): Verdict {
  const patches = Object.values(input)
    .flatMap((value) => (isWords(value) ? value : [value]))
    .filter((value) => typeof value === "string" && value.includes("*** Begin Patch"));
  const paths = writes(tool) ? pathsIn(input) : [];
  const all = [...paths, ...patches.flatMap((patch) => patchedPaths(String(patch)))];
  return judged(all, tool, (path) => protection(path, { cwd: place.cwd, place }));
}

function readBy(tool: string, input: Record<string, unknown>, place: Place): Verdict {
  if (writes(tool)) return NOTHING;
  return judged(pathsIn(input), tool, (path) => {
    const secret = secretAt(path, { cwd: place.cwd, place });
    if (secret === undefined) return undefined;
    const [level, reason] = secret.isMild
      ? (["warn", `${path} may hold secrets`] as const)
      : (["refuse", `${path} is ${secret.what}`] as const);
    return { level, reason, category: "secrets" };
  });
}

function pathsIn(input: Record<string, unknown>): string[] {
  return PATH_NAMES.flatMap((name) => pathsOf(input[name]));
}

/** One path, or several, each perhaps with more about it. */
function pathsOf(value: unknown): string[] {
  if (typeof value === "string") return [pathOf(value)];
  if (Array.isArray(value)) return value.flatMap(pathsOf);
  return typeof value === "object" && value !== null ? pathsIn({ ...value }) : [];
}

function pathOf(text: string): string {
  if (!text.startsWith("file:")) return text;
  try {
    return fileURLToPath(text);
  } catch {
    return text.replace(/^file:(\/\/)?/, "");
  }
}

function judged(paths: string[], tool: string, judge: (path: string) => Judged | undefined): Verdict {
  const findings = paths.flatMap((path): Finding[] => {
    const found = judge(path);
    if (found === undefined) return [];
    const { level, reason, category = "protected-paths" } = found;
    return [{ level, reason, category, command: shown([tool, path]) }];
  });
  return verdictOf(findings);
}
