import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createProject, type Project, type Result } from "../../kit.js";

export const ARGS = "run -p x --agent ./agent --sandbox srt -n 1 --max-failures 1".split(" ");

/** Says of each command whether it worked. */
export function trying(attempts: Record<string, string>): string {
  const lines = Object.entries(attempts).map(
    ([name, command]) =>
      `if (${command}) >/dev/null 2>&1; then echo "${name}: yes"; else echo "${name}: no"; fi`,
  );
  return ["cat > /dev/null", ...lines, "echo '<response>DONE</response>'"].join("\n");
}

/** A project whose agent is a script in it. */
export function project(script: string, options: { git?: boolean } = {}): Project {
  const p = createProject(options);
  chmodSync(p.write("agent", `#!/bin/bash\n${script}\n`), 0o755);
  if (options.git ?? true) p.sh("git add -A && git commit -qm agent");
  for (const folder of [".ssh", ".aws", ".codex", ".ralph/pipes"])
    mkdirSync(join(p.home, folder), { recursive: true });
  for (const file of [".ralph/pipes/pipe", ".ssh/id", ".aws/credentials", ".npmrc", ".codex/auth.json"])
    writeFileSync(join(p.home, file), "secret");
  return p;
}

export function answers({ events }: Pick<Result, "events">): Record<string, string> {
  const texts = events.flatMap((event) =>
    event.type === "agent.event" && event.event.type === "text" ? event.event.text.split("\n") : [],
  );
  return Object.fromEntries(texts.filter((line) => line.includes(": ")).map((line) => line.split(": ")));
}

/** Processes of this machine that were started with `OWNER` in their environment. */
export function alive(p: Project): string[] {
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return all.filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, "latin1").includes(`OWNER=${p.root}`);
    } catch {
      return false;
    }
  });
}
