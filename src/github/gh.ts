import { setTimeout as sleep } from "node:timers/promises";
import type { z } from "zod";
import { RalphError } from "../errors.js";
import { type Capture, capture } from "../process/run.js";
import { which, withOuterPath } from "../process/which.js";
import { type ForgeOptions, fullName, type Repo, waitAfter } from "./forge.js";
import { markerOf } from "./markers.js";

/** GitHub's API by the user's own gh: REST alone, so that gh's version does not matter, and tokens stay its own. */

/** An answer of the server, whatever it says. */
export interface GhAnswer {
  status: number;
  headers: Map<string, string>;
  text: string;
}

type Method = "GET" | "POST" | "PATCH" | "DELETE";
/** Looks for what a request made whose answer got lost. */
type Find = () => Promise<unknown>;

export type RepoApi = ReturnType<typeof apiOf>;

const TIMEOUT_MS = 30_000;
const GRACE_MS = 500;
const TRIES = 4;
/** Of a limit that does not say when it ends. */
const UNKNOWN_WAIT_MS = 60_000;
const MAX_PAGES = 50;
const FULL_PAGE = 100;

/** The API of one repository: paths that begin with "/" are below it. */
export function apiOf(repo: Repo, options: ForgeOptions) {
  const { host } = repo;
  const known = new Map<string, GhAnswer>();
  const at = (path: string): string => (/^(?:\/|$)/.test(path) ? `repos/${fullName(repo)}${path}` : path);

  /** The same answer as before costs nothing: the server is asked whether it has changed. */
  const get = async (path: string): Promise<GhAnswer> => {
    const before = known.get(path);
    const answer = await ask(host, options, { method: "GET", path, etag: before?.headers.get("etag") });
    if (answer.status === 304 && before !== undefined) return before;
    if (answer.status === 200 && answer.headers.has("etag")) known.set(path, answer);
    return answer;
  };

  /** All pages. */
  const items = async (path: string): Promise<unknown[]> => {
    const all: unknown[] = [];
    let next: string | undefined = at(`${path}${path.includes("?") ? "&" : "?"}per_page=${FULL_PAGE}`);
    for (let page = 0; next !== undefined && page < MAX_PAGES; page += 1) {
      const answer: GhAnswer = checked(await get(next), host, next);
      const found = itemsIn(JSON.parse(answer.text));
      all.push(...found);
      // The same full page may have another one behind it the next time.
      if (found.length >= FULL_PAGE) known.delete(next);
      next = nextPage(answer);
    }
    return all;
  };

  const write = (method: Method, path: string, body?: unknown, find?: Find): Promise<GhAnswer> =>
    ask(host, options, { method, path: at(path), body }, find);

  return {
    repo,
    items,
    /** These two return the answer as it came, whatever it is. */
    get: (path: string) => get(at(path)),
    write,
    async all<T>(schema: z.ZodType<T>, path: string): Promise<T[]> {
      return (await items(path)).map((one) => schema.parse(one));
    },
    /** undefined: it is not there, or not for this login. */
    async find<T>(schema: z.ZodType<T>, path: string): Promise<T | undefined> {
      const answer = await get(at(path));
      if ([404, 410].includes(answer.status)) return undefined;
      return parsed(schema, checked(answer, host, at(path)), host);
    },
    async send(method: Method, path: string, body?: unknown): Promise<void> {
      const answer = await write(method, path, body);
      // What is to be removed may be gone.
      if (!(method === "DELETE" && answer.status === 404)) checked(answer, host, at(path));
    },
    /** Writes a text with a marker: one whose answer got lost is looked for among `where`. */
    async say<T>(schema: z.ZodType<T>, path: string, body: string, where = path): Promise<T> {
      const marker = markerOf(body) ?? body;
      const find = async (): Promise<unknown> =>
        (await items(where)).find((one) => String((one as { body?: unknown }).body).includes(marker));
      return parsed(schema, checked(await write("POST", path, { body }, find), host, at(path)), host);
    },
  };
}

interface GhRequest {
  method: Method;
  path: string;
  body?: unknown;
  etag?: string | undefined;
}

/** An answer that counts: limits are waited out, and what got lost is looked for before it is asked again. */
async function ask(host: string, options: ForgeOptions, request: GhRequest, find?: Find): Promise<GhAnswer> {
  const { patienceMs, tell, stop } = options;
  let [lost, waitedMs] = [0, 0];
  for (;;) {
    const answer = await call(host, request, stop);
    if (answer instanceof RalphError) {
      const found = await find?.();
      if (found !== undefined) return { status: 200, headers: new Map(), text: JSON.stringify(found) };
      lost += 1;
      if (lost >= TRIES) throw answer;
      await wait(waitAfter(lost - 1), stop);
      continue;
    }
    const limitMs = limitOf(answer);
    if (limitMs === undefined) return answer;
    waitedMs += limitMs;
    if (waitedMs > patienceMs) throw limited(host, limitMs);
    tell(`${host} limits requests: continuing in ${Math.ceil(limitMs / 1000)} s`);
    await wait(limitMs, stop);
  }
}

async function wait(ms: number, stop: AbortSignal | undefined): Promise<void> {
  await sleep(ms, undefined, { signal: stop }).catch(() => {});
  if (stop?.aborted) throw interrupted();
}

/** An error: there was no answer, or one of a server that is broken. */
async function call(
  host: string,
  { method, path, body, etag }: GhRequest,
  stop: AbortSignal | undefined,
): Promise<GhAnswer | RalphError> {
  const headers = [
    "Accept: application/vnd.github+json",
    "X-GitHub-Api-Version: 2022-11-28",
    ...(body === undefined ? [] : ["Content-Type: application/json"]),
    ...(etag === undefined ? [] : [`If-None-Match: ${etag}`]),
  ].flatMap((header) => ["--header", header]);
  const input = body === undefined ? [] : ["--input", "-"];
  const args = ["api", "--include", "--hostname", host, "--method", method, ...headers, ...input, path];
  const stdin = body === undefined ? {} : { stdin: JSON.stringify(body) };
  const asked = await runGh(args, { timeoutMs: TIMEOUT_MS, graceMs: GRACE_MS, ...(stop && { stop }) }, stdin);
  if (stop?.aborted) throw interrupted();
  const answer = answerIn(asked);
  if (answer !== undefined && answer.status < 500) return answer;
  const { exitCode, stderr, timedOut } = asked;
  if (exitCode === 4 || /gh auth login/.test(stderr))
    throw new RalphError(`gh is not logged in to ${host}`, {
      code: "gh_login",
      hint: `gh auth login --hostname ${host}`,
    });
  const said = answer === undefined ? stderr.trim().split("\n", 1)[0] : `HTTP ${answer.status}`;
  const why = timedOut ? `no answer within ${TIMEOUT_MS / 1000} s` : said || "gh gave no answer";
  return new RalphError(`cannot reach ${host}: ${why} (${method} ${path})`, {
    code: "forge_unreachable",
    hint: "check the network and https://githubstatus.com, then try again",
  });
}

/** It asks nothing, and says nothing of its own. */
function ghEnvironment(): NodeJS.ProcessEnv {
  const { GH_DEBUG: _, DEBUG: __, GH_FORCE_TTY: ___, ...env } = withOuterPath(process.env, process.cwd());
  return { ...env, GH_PROMPT_DISABLED: "1", GH_NO_UPDATE_NOTIFIER: "1", NO_COLOR: "1" };
}

export function ghProgram(): string {
  const found = which("gh", "/", ghEnvironment()["PATH"]);
  if (found.status === "found") return found.path;
  throw new RalphError("gh is not installed, and ralph needs it to reach GitHub", {
    code: "gh_missing",
    hint: "install it from https://cli.github.com, then: gh auth login",
  });
}

const runGh = (
  args: string[],
  options: Parameters<typeof capture>[1] = {},
  more: { stdin?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<Capture> => capture({ file: ghProgram(), args, cwd: "/", env: ghEnvironment(), ...more }, options);

/** Whether gh has a login of its own for a host: tokens in variables are for any, and tell nothing. */
export async function isLoggedIn(host: string): Promise<boolean> {
  const isToken = /^G(?:H|ITHUB)(?:_ENTERPRISE)?_TOKEN$/;
  const own = Object.entries(ghEnvironment()).filter(([name]) => !isToken.test(name));
  return (await runGh(["auth", "token", "--hostname", host], {}, { env: Object.fromEntries(own) })).ok;
}

/** `gh version 2.23.0` */
export async function ghVersion(): Promise<string> {
  const { stdout } = await runGh(["--version"]);
  return `${stdout.split("\n", 1)[0]?.replace(/ \(.*/, "") || "gh"} at ${ghProgram()}`;
}

/** undefined: there was no answer. */
function answerIn({ stdout }: Capture): GhAnswer | undefined {
  const [head = "", status] = /^HTTP\/[\d.]+ (\d{3})[\s\S]*?(?:\r?\n\r?\n|$)/.exec(stdout) ?? [];
  if (status === undefined) return undefined;
  const headers = [...head.matchAll(/^([^\s:]+): (.*?)\r?$/gm)].map(
    ([, name = "", value = ""]) => [name.toLowerCase(), value] as const,
  );
  return { status: Number(status), headers: new Map(headers), text: stdout.slice(head.length) };
}

/** How long the server wants to be left alone; undefined: it does not say so. */
function limitOf({ status, headers, text }: GhAnswer): number | undefined {
  if (status !== 403 && status !== 429) return undefined;
  const after = Number(headers.get("retry-after") ?? Number.NaN);
  if (Number.isFinite(after)) return Math.max(1, after) * 1000;
  if (headers.get("x-ratelimit-remaining") === "0") {
    const resetMs = Number(headers.get("x-ratelimit-reset")) * 1000 - Date.now();
    return Math.max(1000, Number.isFinite(resetMs) ? resetMs : UNKNOWN_WAIT_MS);
  }
  return status === 429 || /rate limit|abuse detection/i.test(text) ? UNKNOWN_WAIT_MS : undefined;
}

/** The answer, unless the server refused. */
export function checked(answer: GhAnswer, host: string, what: string): GhAnswer {
  const { status } = answer;
  if (status < 400) return answer;
  if (status === 401)
    throw new RalphError(`${host} does not accept the login of gh`, {
      code: "gh_login",
      hint: `gh auth login --hostname ${host}, or renew the token in GH_TOKEN`,
    });
  throw new RalphError(`${host} refuses ${what}: ${messageIn(answer)} (HTTP ${status})`, {
    code: `forge_${status}`,
    ...(status === 403 && { hint: "the login of gh may not do this: gh auth status shows its scopes" }),
    ...(status === 404 && { hint: "it does not exist, or the login of gh may not see it: gh auth status" }),
  });
}

export function parsed<T>(schema: z.ZodType<T>, { text }: GhAnswer, host: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new RalphError(`${host} gave an answer that ralph does not understand`, {
      code: "forge_answer",
      hint: "is it GitHub? GH_HOST names another host",
      cause,
    });
  }
}

/** What the server says is wrong, with its details. */
export function messageIn({ text }: GhAnswer): string {
  try {
    const { message, errors = [] } = JSON.parse(text) as { message?: unknown; errors?: unknown[] };
    const details = errors.flatMap((one) => (one as { message?: unknown }).message ?? []);
    return [String(message ?? "no reason given"), ...details.map(String)].join(": ");
  } catch {
    return text.trim().split("\n", 1)[0] || "no reason given";
  }
}

/** Some lists come in an object, beside their count. */
function itemsIn(value: unknown): unknown[] {
  return Array.isArray(value) ? value : (Object.values(value as object).find(Array.isArray) ?? []);
}

/** As a path that gh takes on any host. */
function nextPage({ headers }: GhAnswer): string | undefined {
  const [, address] = /<([^>]+)>;\s*rel="next"/.exec(headers.get("link") ?? "") ?? [];
  return address?.replace(/^https?:\/\/[^/]+\/(?:api\/v3\/)?/, "");
}

function limited(host: string, ms: number): RalphError {
  const until = new Date(Date.now() + ms).toTimeString().slice(0, 5);
  return new RalphError(`${host} accepts no requests from this login until ${until}`, {
    code: "forge_limited",
    hint: "try again then",
  });
}

function interrupted(): RalphError {
  return new RalphError("interrupted", { code: "interrupted", exitCode: 130 });
}
