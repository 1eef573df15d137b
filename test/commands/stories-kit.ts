import type { Story, TaskList } from "../../src/recipes/stories/tasks.js";
import { createProject, type Project, type Step } from "../kit.js";
import { story, tasks } from "../recipes/stories/samples.js";

export const TASKS = "ralph/tasks.json";

/** A project with committed stories. */
export function project(list: unknown = tasks(story("US-001")), git = true, settings: object = {}): Project {
  const p = createProject({ git });
  p.write(TASKS, typeof list === "string" ? list : JSON.stringify(list));
  p.write("ralph/prd.md", "what we want");
  p.write("ralph/prompt.md", "Do it. $RALPH_MODE");
  p.write(".gitignore", ".ralph-active\n");
  // The scripted agent counts its calls outside of the project.
  p.settings({ agent: { command: "claude" }, sandbox: { kind: "none" }, ...settings });
  if (git) p.sh("git add -A && git commit -qm plan");
  return p;
}

export const read = (p: Project): Story[] => (JSON.parse(p.read(TASKS)) as TaskList).userStories;

/** What an agent does to the stories, as a command; it commits. */
export function edit(code: string, more = "true"): string {
  const script = `const fs=require("fs"),f="${TASKS}",d=JSON.parse(fs.readFileSync(f)),s=d.userStories,x=s[0];${code};fs.writeFileSync(f,JSON.stringify(d,null,2))`;
  return `node -e '${script}'; ${more}; git add -A; git commit -qm work`;
}

const is = (status: string): string => `s.find((x)=>x.reviewStatus===${status})`;
export const IMPLEMENT: Step = {
  bash: edit(
    `Object.assign(${is("null")},{reviewStatus:"needs_review",notes:"did it"})`,
    "echo x >> code.txt",
  ),
  text: "implemented",
};
export const review = (change: string): string =>
  edit(`const r=${is('"needs_review"')};r.reviewCount+=1;Object.assign(r,${change})`);
export const APPROVE: Step = {
  bash: review('{reviewStatus:"approved",passes:true}'),
  text: "fine\n<promise>COMPLETE</promise>",
};
export const REJECT: Step = {
  bash: review('{reviewStatus:"changes_requested",reviewFeedback:"fix line 3"}'),
  text: "no",
};
export const FIX: Step = {
  bash: edit(`Object.assign(${is('"changes_requested"')},{reviewStatus:"needs_review",reviewFeedback:""})`),
  text: "fixed",
};
export const CHEAT: Step = {
  bash: edit('Object.assign(s[0],{passes:true,reviewStatus:"approved",reviewCount:1,notes:"n"})'),
  text: "<promise>COMPLETE</promise>",
};
