import type { z } from "zod";
import { RalphError } from "../errors.js";
import { quoteWord } from "../words.js";
import * as answers from "./answers.js";
import {
  type Forge,
  type ForgeKind,
  type ForgeOptions,
  fullName,
  type PullRequest,
  type Repo,
} from "./forge.js";
import { checked, createGh, ghProgram, isLoggedIn, type Method, messageIn } from "./gh.js";
import { markerOf } from "./markers.js";

/** GitHub, and GitHub Enterprise, by the user's own gh. */
export const GITHUB: ForgeKind = {
  name: "GitHub",
  isAt(host) {
    const own = process.env["GH_HOST"]?.toLowerCase();
    return host === "github.com" || host.endsWith(".ghe.com") || host === own;
  },
  isLoggedIn,
  // Over the port of https.
  hostOf: (host) => (host === "ssh.github.com" ? "github.com" : host),
  open: github,
};

function github(repo: Repo, options: ForgeOptions): Forge {
  const api = apiOf(repo, options);
  const helper = `!${quoteWord(ghProgram())} auth git-credential`;
  return {
    repo,
    gitSettings: [[`credential.https://${repo.host}.helper`, helper]],
    commands: {
      login: "gh auth login",
      gitLogin: "gh auth setup-git",
      fork: "gh repo fork",
      issues: "gh issue list",
      reopenIssue: (number) => `gh issue reopen ${number}`,
      reopenPull: (number) => `gh pr reopen ${number}`,
      makeReady: (number) => `gh pr ready ${number}`,
      setBase: (number, base) => `gh pr edit ${number} --base ${base}`,
    },

    async repository() {
      const found = await api.read(answers.RepositoryAnswer, "");
      return { defaultBranch: found.default_branch, canPush: found.permissions?.push ?? true };
    },

    async self() {
      const answer = await api.top("user");
      return answer.status === 200 ? answers.parsed(answers.Self, answer, repo.host).login : undefined;
    },

    async branch(name) {
      const path = `/git/ref/heads/${name.split("/").map(encodeURIComponent).join("/")}`;
      return (await api.find(answers.Ref, path))?.object.sha;
    },

    issues: issuesOf(api),
    pulls: pullsOf(api),
    checks: checksOf(api),
    reviews: reviewsOf(api),
  };
}

type Api = ReturnType<typeof apiOf>;

/** The API of one repository: paths begin below it. */
function apiOf(repo: Repo, options: ForgeOptions) {
  const { host } = repo;
  const gh = createGh({ ...options, host });
  const at = (path: string): string => `repos/${fullName(repo)}${path}`;
  const items = (path: string): Promise<unknown[]> =>
    gh.list(at(`${path}${path.includes("?") ? "&" : "?"}per_page=100`));
  return {
    repo,
    items,
    top: (path: string) => gh.get(path),
    get: (path: string) => gh.get(at(path)),
    async read<T>(schema: z.ZodType<T>, path: string): Promise<T> {
      return answers.parsed(schema, checked(await gh.get(at(path)), host, at(path)), host);
    },
    /** undefined: it is not there. */
    async find<T>(schema: z.ZodType<T>, path: string): Promise<T | undefined> {
      const answer = await gh.get(at(path));
      if (answer.status === 404 || answer.status === 410) return undefined;
      return answers.parsed(schema, checked(answer, host, at(path)), host);
    },
    async all<T>(schema: z.ZodType<T>, path: string): Promise<T[]> {
      return (await items(path)).map((one) => schema.parse(one));
    },
    /** Returns the answer as it came, whatever it is. */
    write: (method: Method, path: string, body?: unknown, found?: () => Promise<unknown>) =>
      gh.write(method, at(path), body, found),
    async send(method: Method, path: string, body?: unknown): Promise<void> {
      checked(await gh.write(method, at(path), body), host, at(path));
    },
    async remove(path: string): Promise<void> {
      const answer = await gh.write("DELETE", at(path));
      if (answer.status !== 404) checked(answer, host, at(path));
    },
    /** Writes a text with a marker: one that got lost on the way is looked for among `where`. */
    async say<T>(schema: z.ZodType<T>, path: string, body: string, where: string): Promise<T> {
      const marker = markerOf(body) ?? body;
      const find = async (): Promise<unknown> =>
        (await items(where)).find((one) => String((one as { body?: unknown }).body).includes(marker));
      return answers.parsed(
        schema,
        checked(await gh.write("POST", at(path), { body }, find), host, at(path)),
        host,
      );
    },
  };
}

function issuesOf(api: Api): Forge["issues"] {
  const name = fullName(api.repo);
  return {
    async get(number) {
      const found = await api.find(answers.IssueAnswer, `/issues/${number}`);
      if (found !== undefined) return found;
      throw new RalphError(`${name} has no issue ${number} that gh may see`, {
        code: "issue_unknown",
        hint: "gh issue list shows those that are open",
      });
    },

    async list({ label, milestone }) {
      const labels = label === undefined ? "" : `&labels=${encodeURIComponent(label)}`;
      const within = milestone === undefined ? "" : `&milestone=${await milestoneNumber(api, milestone)}`;
      const query = `?state=open&sort=created&direction=asc${labels}${within}`;
      const found = await api.all(answers.IssueAnswer, `/issues${query}`);
      return found.filter(({ isPullRequest }) => !isPullRequest);
    },

    comments: (number) => api.all(answers.IssueComment, `/issues/${number}/comments`),
    comment(number, body) {
      const path = `/issues/${number}/comments`;
      return api.say(answers.IssueComment, path, body, path);
    },
    edit: (comment, body) => api.send("PATCH", `/issues/comments/${comment}`, { body }),
    remove: (comment) => api.remove(`/issues/comments/${comment}`),
    addLabel: (number, label) => api.send("POST", `/issues/${number}/labels`, { labels: [label] }),
    removeLabel: (number, label) => api.remove(`/issues/${number}/labels/${encodeURIComponent(label)}`),
  };
}

/** By its number or its title. */
async function milestoneNumber(api: Api, given: string): Promise<number> {
  if (/^\d+$/.test(given)) return Number(given);
  const known = await api.all(answers.Milestone, "/milestones?state=all");
  const found = known.find(({ title }) => title === given);
  if (found !== undefined) return found.number;
  const names = known.map(({ title }) => title).join(", ");
  throw new RalphError(`${fullName(api.repo)} has no milestone ${given}`, {
    code: "milestone_unknown",
    hint: names === "" ? "it has none" : `it has: ${names}`,
  });
}

function pullsOf(api: Api): Forge["pulls"] {
  const { host, owner } = api.repo;
  const headOf = (branch: string): string => encodeURIComponent(`${owner}:${branch}`);
  const of = async (branch: string): Promise<PullRequest | undefined> => {
    const query = `?head=${headOf(branch)}&state=all&sort=created&direction=desc`;
    const found = await api.all(answers.Pull, `/pulls${query}`);
    return found.find(({ isOpen }) => isOpen) ?? found[0];
  };
  return {
    of,

    async get(number) {
      const found = await api.find(answers.Pull, `/pulls/${number}`);
      if (found !== undefined) return found;
      throw new RalphError(`${fullName(api.repo)} has no pull request ${number} that gh may see`, {
        code: "pull_unknown",
        hint: "gh pr list shows those that are open",
      });
    },

    async open({ title, body, branch, base, isDraft }) {
      // One that somebody had closed before is not taken for it.
      const find = async () => (await api.items(`/pulls?head=${headOf(branch)}&state=open`))[0];
      const asked = { title, body, head: branch, base, draft: isDraft };
      const answer = await api.write("POST", "/pulls", asked, find);
      if (answer.status !== 422)
        return answers.parsed(answers.Pull, checked(answer, host, "the pull request"), host);
      // Another ralph was quicker: GitHub itself allows one for a branch and a base.
      const found = /already exists/i.test(answer.text) ? await of(branch) : undefined;
      if (found?.isOpen) return found;
      throw new RalphError(`${host} refuses the pull request: ${messageIn(answer)}`, {
        code: "pull_refused",
        hint: "--base BRANCH names another base",
      });
    },

    describe: (number, body) => api.send("PATCH", `/pulls/${number}`, { body }),

    askReviewers(number, all) {
      const isTeam = (name: string): boolean => name.includes("/");
      const reviewers = all.filter((name) => !isTeam(name));
      const team_reviewers = all.filter(isTeam).map((name) => name.split("/").at(-1));
      return api.send("POST", `/pulls/${number}/requested_reviewers`, { reviewers, team_reviewers });
    },
  };
}

function checksOf(api: Api): Forge["checks"] {
  return {
    async of(commit) {
      const [runs, statuses] = await Promise.all([
        api.all(answers.CheckRun, `/commits/${commit}/check-runs`),
        api.all(answers.Status, `/commits/${commit}/statuses`),
      ]);
      // Of a status that was set several times, the latest comes first.
      const first = (name: string): number => statuses.findIndex((one) => one.name === name);
      return [...runs, ...statuses.filter(({ name }, index) => first(name) === index)];
    },

    async log({ id, said, hasLog }) {
      if (!hasLog) return said;
      const notes = await api.all(answers.Annotation, `/check-runs/${id}/annotations`);
      const log = await api.get(`/actions/jobs/${id}/logs`);
      // Checks of others than GitHub Actions have none.
      const text = log.status === 200 ? log.text.replace(/^\uFEFF?\d{4}-\d\d-\d\dT[\d:.]+Z /gm, "") : "";
      return [text, ...notes, said].filter(Boolean).join("\n");
    },
  };
}

function reviewsOf(api: Api): Forge["reviews"] {
  return {
    list: (pull) => api.all(answers.ReviewAnswer, `/pulls/${pull}/reviews`),
    comments: (pull) => api.all(answers.ReviewComment, `/pulls/${pull}/comments`),
    async reply(pull, comment, body) {
      const where = `/pulls/${pull}/comments`;
      await api.say(answers.ReviewComment, `${where}/${comment}/replies`, body, where);
    },
  };
}
