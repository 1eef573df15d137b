import { chmodSync, copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createProject, type Project } from "../kit.js";
import { story, tasks } from "../recipes/stories/samples.js";

/** A run that always goes the same way. */
export interface Script {
  name: string;
  command: string[];
  /** What the agent does, in bash. `iteration` is in its prompt; `text` is what it says. */
  work: string;
  prepare(p: Project): void;
  /** It runs in a window of tmux, under this name. */
  worker?: string;
}

const AGENT = join(import.meta.dirname, "agent.sh");
const SETTINGS = { agent: { command: "claude" } };

const TASKS = "ralph/tasks.json";
/** Changes the story, and commits. Doing it twice is doing it once. */
const edit = (change: string): string =>
  `node -e 'const f=require("fs"),d=JSON.parse(f.readFileSync("${TASKS}"));Object.assign(d.userStories[0],${change});f.writeFileSync("${TASKS}",JSON.stringify(d,null,2))'`;

export const SCRIPTS: Script[] = [
  {
    name: "run with checks and SCM",
    command: ["run", "-p", "Work.", "-n", "5"],
    work: `case $iteration in
      1) echo 1 > a ;;
      2) echo 1 > ok ;;
      3) echo 1 > b; text='<response>DONE</response>' ;;
    esac`,
    prepare(p) {
      const scm = { command: "git", tasks: ["commit"] };
      const guardrails = [{ command: "test -f ok", failAction: "APPEND" }];
      p.settings({ ...SETTINGS, includeIterationCountInPrompt: true, guardrails, scm });
    },
  },
  {
    name: "run that reaches its limit",
    command: ["run", "-p", "Work.", "-n", "2", "--check", "false"],
    work: `echo "$iteration" > a`,
    prepare: (p) => void p.settings({ ...SETTINGS, includeIterationCountInPrompt: true }),
  },
  {
    name: "loop with checks and a worktree",
    command: ["loop", "Make it ok", "--check", "test -f ok", "--check", "true", "--worktree", "one"],
    work: `case $iteration in 1) echo 1 > a ;; 2) echo 1 > ok; text=COMPLETE ;; esac`,
    prepare: (p) => void p.settings(SETTINGS),
  },
  {
    name: "stories",
    command: ["stories", "run", "--no-sandbox"],
    work: `case $iteration in
      1) echo 1 > code; ${edit('{reviewStatus:"needs_review",notes:"did it"}')} ;;
      2) ${edit('{reviewStatus:"changes_requested",reviewCount:1,reviewFeedback:"line 3"}')} ;;
      3) echo 2 > code; ${edit('{reviewStatus:"needs_review",reviewFeedback:""}')} ;;
      4) ${edit('{reviewStatus:"approved",passes:true,reviewCount:2}')}; text='<promise>COMPLETE</promise>' ;;
    esac
    git add -A; git commit -qm "work $iteration" > /dev/null`,
    prepare(p) {
      p.write(TASKS, JSON.stringify({ ...tasks(story("US-001")), verifyCommands: ["test -f code"] }));
      p.write("ralph/prd.md", "what we want");
      p.write("ralph/prompt.md", "Iteration $RALPH_ITERATION: $RALPH_MODE");
      p.write(".gitignore", ".ralph-active\n");
      p.settings({ ...SETTINGS, sandbox: { kind: "none" } });
      p.sh("git add -A && git commit -qm plan");
    },
  },
  {
    name: "pipeline",
    command: ["pipeline", "run", "s.md"],
    work: `case $prompt in *"test -f b"*) echo 1 > b ;; *) echo 1 > a ;; esac`,
    prepare(p) {
      p.settings(SETTINGS);
      p.write("s.md", "A spec.\n");
      p.write(
        ".ralph/pipeline.yaml",
        "states:\n  A: { command: test -f a, agent: before }\n  B: { command: test -f b }\n",
      );
      p.sh("git add -A && git commit -qm spec");
    },
  },
  {
    name: "worker",
    command: ["spawn", "--name", "w", "--prompt-file", "PROMPT.md", "-n", "2", "--", "claude"],
    work: "echo 1 > a",
    worker: "w",
    prepare: (p) => void p.write("PROMPT.md", "do the thing"),
  },
];

export function projectFor({ work, prepare }: Script): Project {
  const p = createProject();
  copyFileSync(AGENT, join(p.bin, "claude"));
  chmodSync(join(p.bin, "claude"), 0o755);
  writeFileSync(join(p.home, "work.sh"), work);
  prepare(p);
  return p;
}
