import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createProject, type Project } from "../kit.js";

/** What the agent of the lanes does: shell commands, by the ids of the stories. */
export interface LanePlan {
  work: Record<string, string>;
  /** Where a merge is under way, or a prompt tells of one. */
  resolve?: Record<string, string>;
  sleepMs?: number;
}

/** Works on the story that its branch names, as `claude` would; it reviews what waits for that. */
const AGENT = `#!/usr/bin/env node
const { execFileSync } = require("node:child_process");
const { appendFileSync, readFileSync, writeFileSync } = require("node:fs");
const { dirname, join } = require("node:path");
if (process.argv.includes("--version") || process.argv.includes("--help")) process.exit(0);
const here = dirname(process.argv[1]);
const sh = (command) => { try { return execFileSync("bash", ["-c", command], { encoding: "utf8", stdio: "pipe" }); } catch (error) { return ""; } };
const prompt = readFileSync(0, "utf8");
const plan = JSON.parse(readFileSync(join(here, "lanes.json"), "utf8"));
const lane = sh("git branch --show-current").trim().split("/").at(-1);
appendFileSync(join(here, "lanes.log"), JSON.stringify({ lane, slot: process.env.RALPH_SLOT, cwd: process.cwd(), at: Date.now() }) + "\\n");
if (plan.sleepMs) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, plan.sleepMs);
const file = "ralph/tasks.json";
const list = JSON.parse(readFileSync(file, "utf8"));
const story = list.userStories.find(({ id }) => id === lane);
const isReturned = prompt.includes("## Not landed:");
let did = "nothing";
if (story.reviewStatus === "needs_review") {
  Object.assign(story, { reviewStatus: "approved", passes: true, reviewCount: story.reviewCount + 1 });
  did = "reviewed";
} else if (isReturned) {
  writeFileSync(join(here, lane + ".returned.md"), prompt);
  appendFileSync(join(here, "returned.log"), lane + "\\n");
  const resolve = plan.resolve?.[lane];
  if (resolve !== undefined) { sh(resolve); Object.assign(story, { reviewStatus: "needs_review", notes: "merged" }); did = "merged"; }
} else {
  sh(plan.work[lane]);
  Object.assign(story, { reviewStatus: "needs_review", notes: "done", reviewFeedback: "" });
  did = "implemented";
}
if (did !== "nothing") {
  writeFileSync(file, JSON.stringify(list, null, 2) + "\\n");
  appendFileSync("ralph/progress.txt", lane + " " + did + "\\n");
  sh("git add -A && git commit -qm '" + lane + " " + did + "'");
}
const usage = { input_tokens: 100, output_tokens: 10 };
console.log(JSON.stringify({ type: "assistant", message: { id: "m", role: "assistant", content: [{ type: "text", text: did }] } }));
console.log(JSON.stringify({ type: "result", subtype: "success", is_error: false, result: did, total_cost_usd: plan.costUsd ?? 0.01, usage }));
`;

export interface StoryPlan {
  id: string;
  title?: string;
  dependsOn?: string[];
}

/** A project with stories, and an agent that works on them as the plan says. */
export function lanesProject(
  stories: (string | StoryPlan)[],
  plan: LanePlan & { costUsd?: number },
  verify = ["true"],
) {
  const p = createProject();
  p.settings({ agent: { command: "claude" } });
  p.program("claude", AGENT.replace("/usr/bin/env node", process.execPath));
  const userStories = stories.map((given, index) => {
    const { id, title = `Story ${id}`, dependsOn = [] } = typeof given === "string" ? { id: given } : given;
    const fresh = { passes: false, reviewStatus: null, reviewCount: 0, reviewFeedback: "", notes: "" };
    return { id, title, acceptanceCriteria: ["it works"], priority: index + 1, dependsOn, ...fresh };
  });
  const list = {
    project: "shop",
    branchName: "ralph/shop",
    description: "",
    verifyCommands: verify,
    userStories,
  };
  p.write("ralph/tasks.json", `${JSON.stringify(list, null, 2)}\n`);
  p.write("ralph/prd.md", "# Shop\n");
  p.write("ralph/progress.txt", "# Progress\n");
  p.write("ralph/prompt.md", "Work on $RALPH_STORY.\n");
  p.write("shared.txt", "one\ntwo\nthree\n");
  p.write(".gitignore", ".ralph-active\n.ralph/\n");
  p.sh("git add -A && git commit -qm Plan");
  writeFileSync(join(p.bin, "lanes.json"), JSON.stringify(plan));
  return p;
}

export const PARALLEL = ["stories", "run", "--no-sandbox", "--json", "-n", "40", "--parallel"];

/** A file as the branch of the only run has it; empty where it has none. */
export function landedText(p: Project, file: string): string {
  return p.sh(`git show ${resultBranch(p)}:${file} 2>/dev/null || true`);
}

export function resultBranch(p: Project): string {
  const refs = p.sh("git for-each-ref --format='%(refname:short)' refs/heads/ralph/").split("\n");
  return refs.find((name) => name.split("/").length === 2) ?? "";
}

/** Every call of the agent. */
export function laneCalls(p: Project): { lane: string; slot: string; cwd: string; at: number }[] {
  const file = join(p.bin, "lanes.log");
  return existsSync(file)
    ? readFileSync(file, "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line))
    : [];
}
