import type { Agent } from "./agent.js";
import { tellsOfLimit } from "./limit-text.js";

type OwnLine = (lines: string[]) => string | undefined;

/** Places on an agent's screen where neither its model nor a tool can write. */
const OWN_LINES: Partial<Record<Agent["name"], OwnLine>> = { claude: belowInput, codex: errorAboveInput };

/** What an agent itself says on its screen of a usage limit; undefined: nothing that is surely its own. */
export function limitOnScreen(agent: Agent["name"], screen: string): string | undefined {
  const said = OWN_LINES[agent]?.(screen.split("\n").map((line) => line.trimEnd()));
  return said !== undefined && tellsOfLimit(said) ? said : undefined;
}

const RULE = /^─{8,}/;

/** `⚠ Usage limit reached · limit resets 6:58pm`. Above the input it shows words of the model in the same way. */
function belowInput(lines: string[]): string | undefined {
  const bottom = lines.findLastIndex((line) => RULE.test(line));
  const top = lines.slice(0, Math.max(0, bottom)).findLastIndex((line) => RULE.test(line));
  if (top < 0 || !/^[❯>!](?:\s|$)/.test(lines[top + 1] ?? "")) return undefined;
  const footer = lines.slice(bottom + 1);
  const first = footer.findIndex((line) => /^\s+⚠/.test(line));
  return first < 0 ? undefined : withMore(footer.slice(first), /^\s{4,}\S/);
}

/** `■ You’ve hit your usage limit. …`: all that the model or a tool writes is indented, or has another mark. */
function errorAboveInput(lines: string[]): string | undefined {
  const input = lines.findLastIndex((line) => /^›(?:\s|$)/.test(line));
  const above = lines.slice(0, Math.max(0, input));
  const end = above.findLastIndex((line) => line !== "") + 1;
  const start = above.slice(0, end).lastIndexOf("") + 1;
  const [first = "", ...more] = above.slice(start, end);
  return /^■ /.test(first) ? withMore([first.slice(2), ...more], /^[^\s•›■]/) : undefined;
}

/** A line, and what it goes on with. */
function withMore([first = "", ...rest]: string[], goesOn: RegExp): string {
  const end = rest.findIndex((line) => !goesOn.test(line));
  return [first, ...(end < 0 ? rest : rest.slice(0, end))].map((line) => line.trim()).join(" ");
}
