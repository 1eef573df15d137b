import { fileURLToPath } from "node:url";
import { shown } from "./call.js";
import { type Finding, type Issue, unjudged, type Verdict, verdictOf } from "./finding.js";
import { judgeCommand, judgeWords } from "./guard.js";
import { forgetLinks, resolvePath } from "./paths.js";
import type { Place } from "./place.js";
import { protection } from "./protected.js";
import { secretIssue } from "./secrets.js";
import { list } from "./text.js";

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
  return judged(pathsIn(input), tool, (path) => secretIssue(path, { cwd: place.cwd, place }));
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

function judged(paths: string[], tool: string, judge: (path: string) => Issue | undefined): Verdict {
  const findings = paths.flatMap((path): Finding[] => {
    const issue = judge(path);
    return issue === undefined ? [] : [{ ...issue, command: shown([tool, path]) }];
  });
  return verdictOf(findings);
}

const COMMAND_NAMES = list("command cmd script argv");

/** Shells of agents: a text, or the words of a program, also one step further in. */
function ranBy({ tool, input }: ToolUse, place: Place): Verdict {
  const action = input["action"];
  const values = COMMAND_NAMES.flatMap((name) => [input[name], isRecord(action) ? action[name] : undefined]);
  const verdicts = values.map((value) => judgeValue(value, tool, place));
  return (
    verdicts.find(({ allowed }) => !allowed) ??
    verdicts.find(({ warnings }) => warnings.length > 0) ??
    NOTHING
  );
}

function judgeValue(value: unknown, tool: string, place: Place): Verdict {
  if (isPatch(value, tool)) return NOTHING;
  if (typeof value === "string") return judgeCommand(value, place);
  if (isWords(value)) return judgeWords(value, place);
  return typeof value === "object" && value !== null ? verdictOf([unreadable(tool)]) : NOTHING;
}

/** Codex hands over patches in the place of a command; nothing but its own tool takes them. */
function isPatch(value: unknown, tool: string): boolean {
  if (isWords(value)) return value.length === 2 && value[0] === "apply_patch";
  return tool === "apply_patch" && typeof value === "string" && /^\s*\*\*\* Begin Patch/.test(value);
}

function unreadable(tool: string): Finding {
  const reason = "its command is neither a text nor words";
  return { level: "refuse", category: "obfuscation", reason, command: tool };
}

function isWords(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((word) => typeof word === "string");
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const HEADER = /^[^\S\n]*\*\*\*[^\S\n]*(?:Add File|Update File|Delete File|Move to):[^\S\n]*(\S.*)$/gm;

/** The files that a patch in the form of Codex touches. */
function patchedPaths(patch: string): string[] {
  return [...patch.matchAll(HEADER)].map(([, path = ""]) => path.trim());
}
