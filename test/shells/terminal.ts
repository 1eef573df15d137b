import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { createProject, type Project } from "../kit.js";

const BIN = join(import.meta.dirname, "../../bin/ralph.js");
export const PROFILES = ["my agent", "a:b", "do$lar", "it's", 'quo"te', "back\\slash"];

/** A project with names that a shell has to be careful with, and ralph on PATH. */
export function projectToComplete(): Project {
  const p = createProject({ git: false });
  p.program("ralph", `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`);
  p.env["PATH"] = `${p.bin}:${dirname(process.execPath)}:/usr/bin:/bin`;
  p.settings({ agents: Object.fromEntries(PROFILES.map((name) => [name, { command: "cat" }])) });
  for (const name of ["PROMPT.md", "my file.md", "we$ird.md", "sub/x.json"]) p.write(name, "");
  return p;
}

const PRINT_LINE = "\x14";
const CLEAR_LINE = "\x15";

export interface Typed {
  /** For each of the keys, what then stands on the command line. */
  lines: Record<string, string>;
  /** Everything that was written to the terminal. */
  screen: string;
}

/**
 * Types into an interactive shell in a terminal of its own, beginning anew for each of `keys`. The start-up file of the shell makes `ready> ` its prompt, and lets Ctrl+T print the
 * line between << and >>.
 */
export async function typed(p: Project, shell: string, keys: string[]): Promise<Typed> {
  const env = { ...p.env, TERM: "xterm", COLUMNS: "200", LINES: "50" };
  const child = spawn("script", ["-qec", shell, "/dev/null"], { cwd: p.dir, env });
  let output = "";
  let screen = "";
  let wake = (): void => {};
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    screen += text;
    wake();
  });
  const ended = new Promise<never>((_, reject) =>
    child.once("close", () => reject(new Error(`it ended first: ${screen}`))),
  );
  const until = async (pattern: RegExp): Promise<string> => {
    for (;;) {
      const found = pattern.exec(output);
      if (found !== null) return found[1] ?? "";
      await Promise.race([new Promise<void>((resolve) => (wake = resolve)), ended]);
    }
  };
  const lines: Record<string, string> = {};
  try {
    await until(/ready> /);
    for (const text of keys) {
      output = "";
      child.stdin.write(text + PRINT_LINE);
      lines[text] = await until(/<<(.*?)>>/s);
      child.stdin.write(CLEAR_LINE);
    }
    return { lines, screen: stripVTControlCharacters(screen) };
  } finally {
    ended.catch(() => {});
    child.kill("SIGKILL");
  }
}

/** Those of INSERTED whose keys match. */
export function insertedFor(keys: RegExp): Record<string, string> {
  return Object.fromEntries(Object.entries(INSERTED).filter(([typed]) => keys.test(typed)));
}

/** The same in every shell that quotes with a backslash. */
export const INSERTED: Record<string, string> = {
  "ralph com\t": "ralph completion ",
  "ralph completion z\t": "ralph completion zsh ",
  "ralph help res\t": "ralph help resume ",
  "ralph run --no-str\t": "ralph run --no-stream-agent-output ",
  "ralph run --agent my\t": "ralph run --agent my\\ agent ",
  "ralph run --agent my\\ a\t": "ralph run --agent my\\ agent ",
  "ralph run --agent=my\t": "ralph run --agent=my\\ agent ",
  "ralph run --agent a:\t": "ralph run --agent a:b ",
  "ralph run --agent=a:\t": "ralph run --agent=a:b ",
  "ralph run --agent do\t": "ralph run --agent do\\$lar ",
  "ralph run --agent it\t": "ralph run --agent it\\'s ",
  "ralph run --agent quo\t": 'ralph run --agent quo\\"te ',
  "ralph run --agent back\t": "ralph run --agent back\\\\slash ",
  'ralph run --agent "do\t': 'ralph run --agent "do\\$lar" ',
  "ralph run --agent 'do\t": "ralph run --agent 'do$lar' ",
  "ralph run -f my\t": "ralph run -f my\\ file.md ",
  "ralph run -fmy\t": "ralph run -fmy\\ file.md ",
  "ralph run -fwe\t": "ralph run -fwe\\$ird.md ",
  "ralph run --prompt-file=we\t": "ralph run --prompt-file=we\\$ird.md ",
  'ralph run -f "my\t': 'ralph run -f "my file.md" ',
  "ralph run -f su\t": "ralph run -f sub/",
  "ralph run -f ~/ho\t": "ralph run -f ~/house.md ",
  "ralph run -p PRO\t": "ralph run -p PRO",
  "ralph run --prompt=PRO\t": "ralph run --prompt=PRO",
  "ralph run -- PRO\t": "ralph run -- PRO",
  "ralph nope PRO\t": "ralph nope PRO",
  "true; X=1 ralph paus\t": "true; X=1 ralph pause ",
};
