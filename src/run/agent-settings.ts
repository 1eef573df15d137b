import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";

const MAX_BYTES = 1024 * 1024;

/** Settings that the user gave to an agent, as JSON or as the name of a file; undefined: nothing to be read. */
export function readAgentSettings(given: string, workspace: string): Record<string, unknown> | undefined {
  try {
    const text = given.trimStart().startsWith("{") ? given : readSmallFile(resolve(workspace, given));
    const content: unknown = JSON.parse(text);
    return typeof content === "object" && content !== null && !Array.isArray(content)
      ? { ...content }
      : undefined;
  } catch {
    return undefined;
  }
}

function readSmallFile(path: string): string {
  const stat = statSync(path);
  return stat.isFile() && stat.size <= MAX_BYTES ? readFileSync(path, "utf8") : "";
}
