import { createProject, type Project, type Step } from "../kit.js";
import { story, tasks } from "../recipes/stories/samples.js";

/** Each recipe, on a project that is prepared for all of them. */
export const RECIPES: [name: string, args: string[]][] = [
  ["run", ["run", "-p", "a", "--check", "test -f done"]],
  ["loop", ["loop", "a", "--check", "test -f done"]],
  ["stories run", ["stories", "run", "--no-sandbox", "--skip-review"]],
  ["pipeline run", ["pipeline", "run", "s.md", "--max-gate-retries", "1"]],
];

/** A limit whose end nobody tells is waited for as long as this at the most. */
export const NETS = ["--max-limit-wait", "1s"];

export const LIMITED: Step = { text: "You've hit your session limit", isError: true, exit: 1 };
export const BLOCKED = "Which colour?";
/** Changes a protected file, and asks. */
export const ASKS: Step = {
  bash: "echo bad > kept",
  text: `I cannot go on.\n<promise>BLOCKED: ${BLOCKED}</promise>`,
};

/** Finishes the work in the words of every recipe. */
const OTHER = `#!/bin/sh
cat > "$TMPDIR/other.prompt"
touch done
node -e 'const fs=require("fs"),f="ralph/tasks.json",d=JSON.parse(fs.readFileSync(f));Object.assign(d.userStories[0],{passes:true,notes:"n"});fs.writeFileSync(f,JSON.stringify(d))'
git add -A
git commit -qm work
printf '<response>DONE</response>\\nCOMPLETE\\n'
`;

export function prepare(
  p: Pick<Project, "agent" | "program" | "write" | "settings" | "root">,
  steps: Step[],
): void {
  const notify = { command: `cat >> ${p.root}/notes.ndjson` };
  p.settings({ agent: { command: "claude" }, protect: ["kept"], notify });
  p.agent(steps);
  p.program("other", OTHER);
  p.write("kept", "good\n");
  p.write("s.md", "A spec.\n");
  p.write(".ralph/pipeline.yaml", "states:\n  A: { command: test -f done, agent: before }\n");
  p.write(
    "ralph/tasks.json",
    JSON.stringify({ ...tasks(story("US-001")), verifyCommands: ["test -f done"] }),
  );
  p.write("ralph/prompt.md", "Do it.");
  p.write(".gitignore", ".ralph-active\n");
}

export function prepared(steps: Step[]): Project {
  const p = createProject();
  prepare(p, steps);
  p.sh("git add -A && git commit -qm plan");
  return p;
}
