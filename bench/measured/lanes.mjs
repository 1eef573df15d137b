// Stories in lanes: a project that is put back before each run, and an agent that is little more than a sleep.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Marks the story of its branch as done, or the first one that is not, and commits. */
const AGENT = `#!/bin/sh
cat >/dev/null
sleep "\${AGENT_S:-0}"
lane=$(git branch --show-current); lane=\${lane##*/}
case $lane in US-*) ;; *) lane=$(awk '/"id":/ {id = $2} /"passes": false/ {gsub(/[",]/, "", id); print id; exit}' ralph/tasks.json) ;; esac
awk -v id="\\"$lane\\"" '/"id":/ {own = index($0, id)}
  own && /"passes": false/ {sub("false", "true")}
  own && /"notes": ""/ {sub("\\"\\"", "\\"done\\"")}
  {print}' ralph/tasks.json >ralph/new && mv ralph/new ralph/tasks.json
echo "$lane" >"$lane.txt"
git add -A && git commit -q -m "$lane"
echo done
`;

/** Returns a function that puts the project back, with so many stories, and gives the words of a run over them. */
export function storiesIn({ project, program }) {
  program("lane-agent", AGENT);
  const git = (...args) => execFileSync("git", args, { cwd: project, encoding: "utf8" });
  git("config", "user.name", "b");
  git("config", "user.email", "b@example.invalid");
  const first = git("rev-parse", "HEAD").trim();
  return (count, parallel) => {
    git("reset", "--quiet", "--hard", first);
    git("clean", "--quiet", "-fdx");
    mkdirSync(join(project, "ralph"));
    const userStories = Array.from({ length: count }, (_, at) => ({
      ...{ id: `US-${at + 1}`, title: `Story ${at + 1}`, acceptanceCriteria: ["it works"], priority: at + 1 },
      ...{ passes: false, reviewStatus: null, reviewCount: 0, reviewFeedback: "", notes: "" },
    }));
    const list = { project: "bench", branchName: "ralph/bench", description: "", verifyCommands: ["true"] };
    const write = (name, text) => writeFileSync(join(project, name), text);
    write("ralph/tasks.json", `${JSON.stringify({ ...list, userStories }, null, 2)}\n`);
    write("ralph/prd.md", "# Bench\n");
    write("ralph/progress.txt", "# Progress\n");
    write("ralph/prompt.md", "Work on $RALPH_STORY.\n");
    write(".gitignore", ".ralph/\n.ralph-active\n");
    git("add", "-A");
    git("commit", "--quiet", "-m", "Plan");
    const words = ["stories", "run", "-q", "--no-sandbox", "--skip-review", "--agent", "lane-agent"];
    return [...words, "-n", "40", "--parallel", String(parallel)];
  };
}
