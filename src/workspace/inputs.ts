import { readFile, stat } from "node:fs/promises";
import { compilePatterns } from "../patterns.js";
import { digest } from "../records/digest.js";
import { lookFor } from "../verify/protected/look.js";

/** Tells whether files that a check depends on are the same as before. */
export function createInputs(workspace: string) {
  /** By file: what it looked like from outside, and a word for its content. */
  const known = new Map<string, { look: string; content: string }>();

  return {
    /** A word for the state of all of them; undefined where there is none, as in a folder that does not exist. */
    async stateOf(patterns: readonly string[]): Promise<string | undefined> {
      const { files } = lookFor(compilePatterns(patterns), workspace);
      if (files.size === 0) return undefined;
      const all: string[] = [];
      for (const { shown, real } of [...files.values()].sort((a, b) => (a.shown < b.shown ? -1 : 1)))
        all.push(shown, await wordFor(real));
      return digest(all.join("\0"));
    },
  };

  async function wordFor(real: string): Promise<string> {
    const found = await stat(real, { bigint: true }).catch(() => undefined);
    if (!found?.isFile()) return "no file";
    const look = `${found.ino} ${found.size} ${found.mode} ${found.ctimeNs}`;
    const before = known.get(real);
    if (before?.look === look) return before.content;
    const bytes = await readFile(real, "latin1").catch(() => "");
    const content = `${found.mode} ${await digest(bytes)}`;
    known.set(real, { look, content });
    return content;
  }
}
