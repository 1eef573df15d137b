// A `gh` for the tests: `gh api` on one repository, whose issues lie in a file and whose branches in a bare repository.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { isMainThread, workerData } from "node:worker_threads";

/** What the tests set up and look at. */
export function openState(dir) {
  const file = join(dir, "state.json");
  const lock = join(dir, "lock");
  const read = () => (existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : empty());
  const write = (state) => {
    writeFileSync(`${file}.${process.pid}`, JSON.stringify(state, null, 1));
    renameSync(`${file}.${process.pid}`, file);
  };
  return {
    read,
    change(action) {
      while (!isMine(lock)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
      try {
        const state = read();
        const result = action(state);
        write(state);
        return result;
      } finally {
        rmdirSync(lock);
      }
    },
  };
}

function isMine(lock) {
  try {
    mkdirSync(lock);
    return true;
  } catch {
    return false;
  }
}

function empty() {
  const lists = { issues: [], comments: [], pulls: [], reviews: [], lineComments: [], checks: [] };
  return { ...lists, requests: [], faults: [], login: "octo-bot", canPush: true, signedIn: true, next: 100 };
}

/** `hang`: no answer comes. */
function answerAsGh(state, args, input) {
  const { signedIn } = state.read();
  if (args[0] === "auth")
    return { code: signedIn ? 0 : 1, stdout: args[1] === "token" && signedIn ? "gho_test\n" : "" };
  if (!signedIn) return { code: 4, stderr: "To get started with GitHub CLI, please run:  gh auth login" };
  const [path = "", query = ""] = (args.at(-1) ?? "").split("?");
  const request = {
    method: args[args.indexOf("--method") + 1],
    ...{ dir: workerData, path, query: new URLSearchParams(query) },
    body: args.includes("--input") ? JSON.parse(input) : {},
  };
  const known = args.find((arg) => arg.startsWith("If-None-Match: "))?.slice("If-None-Match: ".length);
  const answer = state.change((all) => answerTo(all, request, known));
  if (answer === "lost") return { code: 1, stderr: "EOF" };
  if (answer.status === "hang") return "hang";
  const lines = Object.entries(answer.headers ?? {}).map(([name, one]) => `${name}: ${one}\r\n`);
  const stdout = `HTTP/2.0 ${answer.status} X\r\n${lines.join("")}\r\n${answer.text ?? ""}`;
  return answer.status < 300 ? { code: 0, stdout } : { code: 1, stdout, stderr: `gh: HTTP ${answer.status}` };
}

/** Arguments and input of a call end with NUL each; the answer is a line with the code, one of stderr, and stdout. */
function serve(dir) {
  const state = openState(dir);
  const server = createServer((socket) => {
    let asked = "";
    socket.on("error", () => {});
    socket.setEncoding("utf8").on("data", (text) => {
      asked += text;
      if (!asked.endsWith(`\0${END}\0`)) return;
      const [input, ...args] = asked.split("\0").slice(0, -2).reverse();
      const answer = answerAsGh(state, args.reverse(), input);
      if (answer !== "hang") socket.end(`${answer.code}\n${answer.stderr ?? ""}\n${answer.stdout ?? ""}`);
    });
  });
  server.listen(0, "127.0.0.1", () => writeFileSync(join(dir, "port"), `${server.address().port}\n`));
}

const END = "end of the call";
/** What the tests have for `gh`: a shell is there at once, and asks the thread that plays the server. */
export const GH = (dir) => `#!/bin/bash
until [ -s ${dir}/port ]; do sleep 0.05; done
exec 3<>/dev/tcp/127.0.0.1/$(< ${dir}/port)
input=
case " $* " in *" --input "*) input=$(cat) ;; esac
printf '%s\\0' "$@" "$input" '${END}' >&3
read -r code <&3 && read -r said <&3 || exit 1
cat <&3
[ -z "$said" ] || echo "$said" >&2
exit "$code"
`;
if (!isMainThread) serve(workerData);

function answerTo(state, request, etag) {
  const asked = `${request.method} ${request.path}`;
  const fault = state.faults.find(({ match, times }) => times > 0 && new RegExp(match).test(asked));
  if (fault !== undefined) fault.times -= 1;
  const answer = fault === undefined || fault.kind === "drop" ? served(state, request) : FAULTS(fault.kind);
  const text = typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body ?? {});
  const tag = `W/"${createHash("sha1")
    .update(text + (answer.headers?.Link ?? ""))
    .digest("hex")}"`;
  const isSame = request.method === "GET" && answer.status === 200 && tag === etag;
  state.requests.push(`${asked} ${isSame ? 304 : answer.status}`);
  if (fault?.kind === "drop") return "lost";
  return isSame ? { status: 304 } : { ...answer, text, headers: { Etag: tag, ...answer.headers } };
}

const FAULTS = (kind) =>
  kind === "limit"
    ? { status: 403, headers: { "Retry-After": 1 }, body: { message: "secondary rate limit" } }
    : { status: kind, body: { message: "Server Error" } };

const MISSING = { status: 404, body: { message: "Not Found" } };
const ok = (body, status = 200) => ({ status, body });
/** Two on a page, so that there are pages. */
const PAGE = 2;

function paged(all, { path, query }, name) {
  const page = Number(query.get("page") ?? 1);
  const items = all.slice((page - 1) * PAGE, page * PAGE);
  const answer = ok(name === undefined ? items : { total_count: all.length, [name]: items });
  if (all.length <= page * PAGE) return answer;
  query.set("page", String(page + 1));
  return { ...answer, headers: { Link: `<https://api.github.com/${path}?${query}>; rel="next"` } };
}

function served(state, request) {
  const asked = `${request.method} ${request.path.replace(/^repos\/octo\/demo/, "")}`;
  for (const [route, answer] of ROUTES) {
    const named = route.exec(asked)?.slice(1);
    const values = named?.map((one) => (/^\d{1,9}$/.test(one) ? Number(one) : decodeURIComponent(one)));
    if (values !== undefined) return answer(state, request, ...values) ?? MISSING;
  }
  return MISSING;
}

function newId(state) {
  state.next += 1;
  return state.next;
}

function said(state, more) {
  const at = new Date().toISOString();
  const by = { user: { login: state.login }, author_association: "COLLABORATOR" };
  return { id: newId(state), ...by, created_at: at, updated_at: at, ...more };
}

function tipOf(dir, branch) {
  try {
    const args = ["rev-parse", "--verify", "--quiet", `refs/heads/${branch}`];
    return execFileSync("git", args, { cwd: join(dir, "git"), encoding: "utf8" }).trim();
  } catch {
    return undefined;
  }
}

function asPull(pull, { dir }) {
  const tip = pull.state === "open" ? tipOf(dir, pull.head.ref) : undefined;
  return { ...pull, head: { ...pull.head, sha: tip ?? pull.head.sha } };
}

function openPull(state, { dir, body: { title, body, draft, head, base } }) {
  const isThere = state.pulls.some((one) => one.state === "open" && one.head.ref === head);
  const errors = [{ message: `A pull request already exists for octo:${head}.` }];
  if (isThere) return ok({ message: "Validation Failed", errors }, 422);
  const number = newId(state);
  const url = `https://github.com/octo/demo/pull/${number}`;
  const made = {
    ...{ number, html_url: url, title, body, draft, state: "open", merged: false, mergeable: true },
    head: { ref: head, sha: tipOf(dir, head), repo: { full_name: "octo/demo" } },
    base: { ref: base },
  };
  state.pulls.push(made);
  return ok(made, 201);
}

const by = (name, value) => (one) => one[name] === value;

/** What answers a method and a path below the repository: with the state, the request, and what the path names. */
const ROUTES = Object.entries({
  "GET ": ({ canPush }) => ok({ default_branch: "main", permissions: { push: canPush } }),
  "GET /git/ref/heads/(.+)": (_, { dir }, name) => {
    const sha = tipOf(dir, name);
    return sha && ok({ object: { sha } });
  },
  "GET /issues": ({ issues }, request) => {
    const label = request.query.get("labels");
    const isMeant = ({ state, labels }) => state === "open" && (!label || labels.some(by("name", label)));
    return paged(issues.filter(isMeant), request);
  },
  "GET /issues/(\\d+)": ({ issues }, _, number) => ok(issues.find(by("number", number))),
  "GET /issues/(\\d+)/comments": ({ comments }, request, number) =>
    paged(comments.filter(by("issue", number)), request),
  "POST /issues/(\\d+)/comments": (state, { body }, issue) => {
    const made = said(state, { issue, body: body.body });
    state.comments.push(made);
    return ok(made, 201);
  },
  "PATCH /issues/comments/(\\d+)": ({ comments }, { body }, id) =>
    ok(Object.assign(comments.find(by("id", id)), body, { updated_at: new Date().toISOString() })),
  "DELETE /issues/comments/(\\d+)": (state, _, id) => {
    state.comments = state.comments.filter((one) => one.id !== id);
    return ok("", 204);
  },
  "POST /issues/(\\d+)/labels": ({ issues }, { body }, number) => {
    const { labels } = issues.find(by("number", number));
    for (const name of body.labels) if (!labels.some(by("name", name))) labels.push({ name });
    return ok(labels);
  },
  "DELETE /issues/(\\d+)/labels/(.+)": ({ issues }, _, number, name) => {
    const issue = issues.find(by("number", number));
    issue.labels = issue.labels.filter((one) => one.name !== name);
    return ok(issue.labels);
  },
  "GET /pulls": ({ pulls }, request) => {
    const [, head] = request.query.get("head").split(":");
    const wanted = request.query.get("state");
    const isMeant = (one) => one.head.ref === head && (wanted === "all" || one.state === wanted);
    return paged(
      pulls.filter(isMeant).map((one) => asPull(one, request)),
      request,
    );
  },
  "POST /pulls": openPull,
  "GET /pulls/(\\d+)": ({ pulls }, request, number) => {
    const found = pulls.find(by("number", number));
    return found && ok(asPull(found, request));
  },
  "PATCH /pulls/(\\d+)": ({ pulls }, { body }, number) =>
    ok(Object.assign(pulls.find(by("number", number)), body)),
  "POST /pulls/(\\d+)/requested_reviewers": ({ pulls }, { body }, number) =>
    ok(Object.assign(pulls.find(by("number", number)), { asked: body.reviewers }), 201),
  "GET /pulls/(\\d+)/reviews": ({ reviews }, request, number) =>
    paged(reviews.filter(by("pull", number)), request),
  "GET /pulls/(\\d+)/comments": ({ lineComments }, request, number) =>
    paged(lineComments.filter(by("pull", number)), request),
  "POST /pulls/(\\d+)/comments/(\\d+)/replies": (state, { body }, pull, id) => {
    const { path } = state.lineComments.find(by("id", id));
    const made = said(state, { pull, path, body: body.body, in_reply_to_id: id });
    state.lineComments.push(made);
    return ok(made, 201);
  },
  "GET /commits/(\\w+)/check-runs": ({ checks }, request, sha) =>
    paged(checks.filter((one) => one.sha === String(sha)).map(asCheckRun), request, "check_runs"),
  "GET /commits/\\w+/statuses": () => ok([]),
  "GET /check-runs/\\d+/annotations": () => ok([]),
  "GET /actions/jobs/(\\d+)/logs": ({ checks }, _, id) => ok(checks.find(by("id", id)).log),
}).map(([route, answer]) => [new RegExp(`^${route}$`), answer]);

function asCheckRun({ id, name, conclusion }) {
  const status = conclusion === undefined ? "in_progress" : "completed";
  return { id, name, status, conclusion: conclusion ?? null, output: {} };
}
