import { type Finding, type Verdict, verdictOf } from "./finding.js";
import { judgeCommand, judgeWords } from "./guard.js";
import { list } from "./list.js";
import type { Place } from "./place.js";
import type { ToolUse } from "./tool-use.js";

const NOTHING: Verdict = { allowed: true, refusals: [], warnings: [] };
const COMMAND_NAMES = list("command cmd script argv");

/** Shells of agents: a text, or the words of a program, also one step further in. */
export function ranBy({ tool, input }: ToolUse, place: Place): Verdict {
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

export function isWords(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((word) => typeof word === "string");
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
