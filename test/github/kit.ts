import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { atEnd, createProject, type Project, type Step } from "../kit.js";
import { GH, openState } from "./fake-gh.mjs";

/** What a person says; `more`: as GitHub has it. */
interface Said {
  body?: string;
  login?: string;
  role?: string;
  more?: Record<string, unknown>;
}

/** A project with a remote on GitHub, as far as gh and git can tell. */
export function onGitHub(p: Project) {
  const dir = join(p.root, "github");
  mkdirSync(dir);
  p.program("gh", GH(dir));
  const server = new Worker(new URL("fake-gh.mjs", import.meta.url), { workerData: dir });
  atEnd(() => void server.terminate());
  execFileSync("git", ["clone", "-q", "--bare", p.dir, join(dir, "git")]);
  p.sh(`git remote add origin https://github.com/octo/demo.git
git config --global url.${dir}/git.insteadOf https://github.com/octo/demo.git
git fetch -q origin`);
  Object.assign(p.env, { RALPH_GITHUB_POLL: "0.05" });
  const state = openState(dir);
  const person = ({ login = "octo", role = "OWNER" }: Said) => ({
    user: { login },
    author_association: role,
  });
  const at = new Date().toISOString();
  const dated = { created_at: at, updated_at: at };
  return {
    dir,
    ...state,
    git: (...args: string[]): string =>
      execFileSync("git", args, { cwd: join(dir, "git"), encoding: "utf8" }).trim(),
    issue(number: number, { body = "Please.", more, ...by }: Said & { labels?: string[] } = {}): void {
      const labels = (by.labels ?? []).map((name) => ({ name }));
      const url = `https://github.com/octo/demo/issues/${number}`;
      const made = {
        number,
        title: `Issue ${number}`,
        body,
        state: "open",
        labels,
        html_url: url,
        ...person(by),
      };
      state.change(({ issues }) => void issues.push({ ...made, ...more }));
    },
    comment(issue: number, { body = "", more, ...by }: Said): void {
      state.change((known) => {
        known.next += 1;
        known.comments.push({ id: known.next, issue, body, ...dated, ...person(by), ...more });
      });
    },
    lineComment(pull: number, { body = "", more, ...by }: Said): number {
      return state.change((known) => {
        known.next += 1;
        const where = { path: "README.md", line: 1, diff_hunk: "@@ -1 +1 @@\n-hi\n+ho" };
        known.lineComments.push({ id: known.next, pull, body, ...where, ...dated, ...person(by), ...more });
        return known.next;
      });
    },
    review(pull: number, wanted: string, { body = "", ...by }: Said = {}): void {
      state.change((known) => {
        known.next += 1;
        known.reviews.push({ id: known.next, pull, body, state: wanted, ...person(by) });
      });
    },
    check(sha: string, name: string, conclusion: string, log = ""): void {
      state.change((known) => {
        known.next += 1;
        known.checks.push({ id: known.next, sha, name, conclusion, log });
      });
    },
    fault(match: string, kind: number | "drop" | "limit" | "hang", times = 1): void {
      state.change(({ faults }) => void faults.push({ match, kind, times }));
    },
    pulls: () => state.read().pulls,
    requests: (match: RegExp): number => state.read().requests.filter((one) => match.test(one)).length,
    /** What is on a branch there. */
    file: (branch: string, path: string): string =>
      execFileSync("git", ["show", `${branch}:${path}`], { cwd: join(dir, "git"), encoding: "utf8" }),
    /** A commit of a person, on a branch there. */
    push(branch: string, file: string, text: string): void {
      p.sh(`rm -rf ../person && git clone -q ${dir}/git ../person && cd ../person && git checkout -q ${branch} &&
printf '%s' '${text}' > ${file} && git add . && git commit -qm "By a person" && git push -q origin ${branch}`);
    },
  };
}

export type GitHub = ReturnType<typeof onGitHub>;

const DONE = "COMPLETE\n<response>DONE</response>";

/** The same with an agent that does one step a call. */
export function githubProject(...steps: Step[]): { p: Project; hub: GitHub } {
  const p = createProject();
  p.settings({ agent: { command: "claude" } });
  p.sh("git add -A && git commit -qm settings");
  p.agent(steps.map((step) => ({ text: DONE, ...step })));
  return { p, hub: onGitHub(p) };
}
