import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Where agents in sandboxes of Docker keep who they are, so that it outlives the sandbox. */
const FOLDER = ".dclaude_state";

/** Makes it ready; what is there stays. An empty file is no JSON, and the agent would not start with it. */
export function prepareAuthState(home: string): string {
  const folder = join(home, FOLDER);
  mkdirSync(join(folder, ".claude"), { recursive: true, mode: 0o700 });
  const file = join(folder, ".claude.json");
  if (!existsSync(file) || readFileSync(file, "utf8").trim() === "")
    writeFileSync(file, "{}\n", { mode: 0o600 });
  return folder;
}

/** Run inside as root: the agent's own files become links to the state. */
export function linkAuthState(state: string): string[] {
  const script = [
    "rm -rf /home/agent/.claude /home/agent/.claude.json 2>/dev/null || true",
    'ln -s "$1/.claude" /home/agent/.claude',
    'ln -s "$1/.claude.json" /home/agent/.claude.json',
    "chown -h agent:agent /home/agent/.claude /home/agent/.claude.json 2>/dev/null || true",
  ].join("\n");
  return ["bash", "-c", script, "bash", state];
}

/** Commits inside need a name. */
export function setGitIdentity(): string[] {
  const script = [
    'git config --global user.email "ralph@localhost"',
    'git config --global user.name "Ralph Loop"',
  ];
  return ["bash", "-c", script.join("\n")];
}
