import { readFileSync } from "node:fs";

/** Each shell and its script; the names are those that the shells look for in their own folders. */
const SCRIPTS = { bash: "ralph.bash", zsh: "_ralph", fish: "ralph.fish" };

type Shell = keyof typeof SCRIPTS;

export const SHELLS = Object.keys(SCRIPTS) as Shell[];

export function isShell(name: string): name is Shell {
  return Object.hasOwn(SCRIPTS, name);
}

export function scriptFor(shell: Shell): string {
  return readFileSync(new URL(`../../../completions/${SCRIPTS[shell]}`, import.meta.url), "utf8");
}
