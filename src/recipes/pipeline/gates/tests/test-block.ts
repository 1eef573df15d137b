import { createHash } from "node:crypto";

/** One test in a file. */
export interface TestBlock {
  name: string;
  /** From 1 on. */
  line: number;
  /** All of it as it is written, with the titles of the groups around it and the comments above it. */
  text: string;
  asserts: boolean;
  /** Why it is not run, or its failure does not count. */
  skipped: false | "skipped" | "expected to fail";
  /** The fingerprint of what it does: neither its name nor its comments. */
  print: string;
}

/** Comments and attributes directly above a line belong to what follows. */
export function linesAbove(text: string, index: number, pattern: RegExp): string {
  const above = text.slice(0, text.lastIndexOf("\n", index - 1) + 1).split("\n");
  above.pop();
  const found: string[] = [];
  for (let line = above.pop(); line !== undefined && pattern.test(line); line = above.pop())
    found.unshift(line);
  return found.join("\n");
}

/** Blanks and ends of lines are no work. */
export function printOf(text: string): string {
  return createHash("sha256").update(text.replace(/\s+/g, " ").trim()).digest("hex").slice(0, 16);
}
