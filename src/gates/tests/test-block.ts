/** One test in a file. */
export interface TestBlock {
  name: string;
  /** From 1 on. */
  line: number;
  /** All of it as it is written, with the titles of the groups around it and the comments above it. */
  text: string;
  asserts: boolean;
  skipped: boolean;
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
