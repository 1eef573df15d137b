import { shown } from "./call.js";
import { type Finding, type Judged, type Verdict, verdictOf } from "./finding.js";
import { judgeCommand, judgeWords } from "./guard.js";
import { list } from "./list.js";
import { patchedPaths } from "./patch.js";
import type { Place } from "./place.js";
import { protection } from "./protected.js";
import { secretAt } from "./secret-files.js";

/** A call of a tool, as agents tell it before they make it. */
export interface ToolUse {
  tool: string;
  input: Record<string, unknown>;
}

/** What would happen to a call of a tool. Tools that neither run, write nor read files pass. */
export function judgeToolUse({ tool, input }: ToolUse, place: Place): Verdict {
  const verdicts = [ranBy(input, place), changedBy(tool, input, place), readBy(tool, input, place)];
  const findings = verdicts.flatMap(({ refusals, warnings }) => [...refusals, ...warnings]);
  return verdictOf(findings);
}

const NOTHING: Verdict = { allowed: true, refusals: [], warnings: [] };

/** Shells of agents: a text, or the words of a program. */
function ranBy(input: Record<string, unknown>, place: Place): Verdict {
  const verdicts = ["command", "cmd", "script"].map((name) => {
    const value = input[name];
    if (typeof value === "string") return isPatch(value) ? NOTHING : judgeCommand(value, place);
    if (isWords(value) && value[0] !== "apply_patch") return judgeWords(value, place);
    return NOTHING;
  });
  return (
    verdicts.find(({ allowed }) => !allowed) ??
    verdicts.find(({ warnings }) => warnings.length > 0) ??
    NOTHING
  );
}

/** Codex hands over patches in the place of a command. */
function isPatch(text: string): boolean {
  return text.trimStart().startsWith("*** Begin Patch");
}

function isWords(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((word) => typeof word === "string");
}

const WRITES =
  /write|edit|create|delete|remove|move|rename|patch|replace|insert|append|save|mkdir|upload|copy/i;
const PATH_NAMES = list(`
  file_path notebook_path path filePath absolute_path destination source target_file new_path old_path
  dir_path
`);

function changedBy(tool: string, input: Record<string, unknown>, place: Place): Verdict {
  const patches = Object.values(input)
    .flatMap((value) => (isWords(value) ? value : [value]))
    .filter((value) => typeof value === "string" && value.includes("*** Begin Patch"));
  const paths = WRITES.test(tool) ? pathsIn(input) : [];
  const all = [...paths, ...patches.flatMap((patch) => patchedPaths(String(patch)))];
  return judged(all, tool, (path) => protection(path, { cwd: place.cwd, place }));
}

function readBy(tool: string, input: Record<string, unknown>, place: Place): Verdict {
  if (WRITES.test(tool)) return NOTHING;
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
  return PATH_NAMES.flatMap((name) => (typeof input[name] === "string" ? [input[name]] : []));
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
