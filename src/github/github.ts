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
import { apiOf, checked, ghProgram, isLoggedIn, messageIn, parsed, type RepoApi } from "./gh.js";

/** GitHub, and GitHub Enterprise, by the user's own gh. */
export const GITHUB: ForgeKind = {
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
      const found = await api.find(answers.RepositoryAnswer, "");
      if (found === undefined)
        throw unknown(
          repo.host,
          `repository ${fullName(repo)}`,
          "it does not exist, or the login of gh may not see it: gh auth status",
        );
      return { defaultBranch: found.default_branch, canPush: found.permissions?.push ?? true };
    },

    async self() {
      const answer = await api.get("user");
      return answer.status === 200 ? parsed(answers.Self, answer, repo.host).login : undefined;
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
function issuesOf(api: RepoApi): Forge["issues"] {
  return {
    async get(number) {
      const found = await api.find(answers.IssueAnswer, `/issues/${number}`);
      if (found !== undefined) return found;
      throw unknown(fullName(api.repo), `issue ${number}`, "gh issue list shows those that are open");
    },

    async list({ label, milestone }) {
      const labels = label === undefined ? "" : `&labels=${encodeURIComponent(label)}`;
      const within = milestone === undefined ? "" : `&milestone=${await milestoneNumber(api, milestone)}`;
      const query = `?state=open&sort=created&direction=asc${labels}${within}`;
      const found = await api.all(answers.IssueAnswer, `/issues${query}`);
      return found.filter(({ isPullRequest }) => !isPullRequest);
    },

    comments: (number) => api.all(answers.IssueComment, `/issues/${number}/comments`),
    comment: (number, body) => api.say(answers.IssueComment, `/issues/${number}/comments`, body),
    edit: (comment, body) => api.send("PATCH", `/issues/comments/${comment}`, { body }),
    remove: (comment) => api.send("DELETE", `/issues/comments/${comment}`),
    addLabel: (number, label) => api.send("POST", `/issues/${number}/labels`, { labels: [label] }),
    removeLabel: (number, label) =>
      api.send("DELETE", `/issues/${number}/labels/${encodeURIComponent(label)}`),
  };
}

function unknown(where: string, what: string, hint: string): RalphError {
  return new RalphError(`${where} has no ${what} that gh may see`, { code: "forge_404", hint });
}

/** By its number or its title. */
async function milestoneNumber(api: RepoApi, given: string): Promise<number> {
  if (/^\d+$/.test(given)) return Number(given);
  const known = await api.all(answers.Milestone, "/milestones?state=all");
  const found = known.find(({ title }) => title === given);
  if (found !== undefined) return found.number;
  const names = known.map(({ title }) => title).join(", ");
  throw unknown(fullName(api.repo), `milestone ${given}`, names === "" ? "it has none" : `it has: ${names}`);
}

function pullsOf(api: RepoApi): Forge["pulls"] {
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
      throw unknown(fullName(api.repo), `pull request ${number}`, "gh pr list shows those that are open");
    },

    async open({ title, body, branch, base, isDraft }) {
      // One that somebody had closed before is not taken for it.
      const find = async () => (await api.items(`/pulls?head=${headOf(branch)}&state=open`))[0];
      const asked = { title, body, head: branch, base, draft: isDraft };
      const answer = await api.write("POST", "/pulls", asked, find);
      if (answer.status !== 422) return parsed(answers.Pull, checked(answer, host, "the pull request"), host);
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

function checksOf(api: RepoApi): Forge["checks"] {
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

function reviewsOf(api: RepoApi): Forge["reviews"] {
  return {
    list: (pull) => api.all(answers.ReviewAnswer, `/pulls/${pull}/reviews`),
    comments: (pull) => api.all(answers.ReviewComment, `/pulls/${pull}/comments`),
    async reply(pull, comment, body) {
      const where = `/pulls/${pull}/comments`;
      await api.say(answers.ReviewComment, `${where}/${comment}/replies`, body, where);
    },
  };
}
