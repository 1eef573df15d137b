import { setTimeout as sleep } from "node:timers/promises";
import { RalphError } from "../errors.js";
import { type Captured, capture } from "../process/capture.js";
import { which, withOuterPath } from "../process/which.js";
import { type ForgeOptions, waitAfter } from "./forge.js";

/** An answer of the server, whatever it says. */
export interface GhAnswer {
  status: number;
  headers: Map<string, string>;
  text: string;
}

interface GhRequest {
  method: Method;
  path: string;
  body?: unknown;
  etag?: string | undefined;
}

/** Looks for what a request may have made whose answer got lost. */
type Find = () => Promise<unknown>;

export type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE";

/** How gh is asked: REST alone, so that its version does not matter, and tokens stay its own. */
interface GhOptions extends ForgeOptions {
  host: string;
}

export interface Gh {
  /** The same answer as before costs nothing: the server is asked whether it has changed. */
  get(path: string): Promise<GhAnswer>;
  /** All pages. */
  list(path: string): Promise<unknown[]>;
  write(method: Method, path: string, body?: unknown, find?: Find): Promise<GhAnswer>;
}

const TIMEOUT_MS = 30_000;
const GRACE_MS = 500;
const TRIES = 4;
/** Of a limit that does not say when it ends. */
const UNKNOWN_WAIT_MS = 60_000;
const MAX_PAGES = 50;
const FULL_PAGE = 100;

export function createGh(options: GhOptions): Gh {
  const { host, patienceMs, tell, stop } = options;
  const known = new Map<string, { etag: string; answer: GhAnswer }>();
  let waitedMs = 0;

  const wait = async (ms: number): Promise<void> => {
    await sleep(ms, undefined, { signal: stop }).catch(() => {});
    if (stop?.aborted) throw interrupted();
  };

  /** Waits as long as the server wants to be left alone. */
  const waitOut = async (limitMs: number): Promise<void> => {
    if (waitedMs + limitMs > patienceMs) throw limited(host, limitMs);
    waitedMs += limitMs;
    tell(`${host} limits requests: continuing in ${Math.ceil(limitMs / 1000)} s`);
    await wait(limitMs);
  };

  /** What may have been done, though its answer got lost; undefined: it is to be asked again, after a while. */
  const afterLoss = async (failure: RalphError, lost: number, find?: Find): Promise<GhAnswer | undefined> => {
    if (failure.code === "gh_login") throw failure;
    const found = await find?.();
    if (found !== undefined) return { status: 200, headers: new Map(), text: JSON.stringify(found) };
    if (lost >= TRIES) throw failure;
    await wait(waitAfter(lost - 1));
    return undefined;
  };

  /** An answer that counts: limits are waited out, and what got lost is looked for before it is asked again. */
  const ask = async (request: GhRequest, find?: Find, tries = 1): Promise<GhAnswer> => {
    const asked = await call(options, request);
    if (stop?.aborted) throw interrupted();
    const answer = answerIn(asked);
    if (answer === undefined || answer.status >= 500) {
      const failure = failureOf(asked, answer, host, `${request.method} ${request.path}`);
      return (await afterLoss(failure, tries, find)) ?? ask(request, find, tries + 1);
    }
    const limitMs = limitOf(answer);
    if (limitMs === undefined) return answer;
    await waitOut(limitMs);
    return ask(request, find, tries);
  };

  const get = async (path: string): Promise<GhAnswer> => {
    const before = known.get(path);
    const answer = await ask({ method: "GET", path, etag: before?.etag });
    if (answer.status === 304 && before !== undefined) return before.answer;
    const etag = answer.headers.get("etag");
    if (etag !== undefined && answer.status === 200) known.set(path, { etag, answer });
    return answer;
  };

  return {
    get,
    async list(path) {
      const all: unknown[] = [];
      let next: string | undefined = path;
      for (let page = 0; next !== undefined && page < MAX_PAGES; page += 1) {
        const answer: GhAnswer = checked(await get(next), host, next);
        const items = itemsIn(JSON.parse(answer.text));
        all.push(...items);
        // The same full page may have another one behind it the next time.
        if (items.length >= FULL_PAGE) known.delete(next);
        next = nextPage(answer);
      }
      return all;
    },
    write: async (method, path, body, find) => ask({ method, path, body }, find),
  };
}

async function call({ host, stop }: GhOptions, { method, path, body, etag }: GhRequest): Promise<Captured> {
  const headers = [
    ["Accept", "application/vnd.github+json"],
    ["X-GitHub-Api-Version", "2022-11-28"],
    ...(body === undefined ? [] : [["Content-Type", "application/json"]]),
    ...(etag === undefined ? [] : [["If-None-Match", etag]]),
  ].flatMap(([name, value]) => ["--header", `${name}: ${value}`]);
  const input = body === undefined ? [] : ["--input", "-"];
  return capture(
    {
      ...{ file: ghProgram(), cwd: "/", env: ghEnvironment() },
      args: ["api", "--include", "--hostname", host, "--method", method, ...headers, ...input, path],
      ...(body !== undefined && { stdin: JSON.stringify(body) }),
    },
    { timeoutMs: TIMEOUT_MS, graceMs: GRACE_MS, ...(stop && { stop }) },
  );
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

/** Whether gh has a login of its own for a host: tokens in variables are for any, and tell nothing. */
export async function isLoggedIn(host: string): Promise<boolean> {
  const own = Object.entries(ghEnvironment()).filter(
    ([name]) => !/^G(?:H|ITHUB)(?:_ENTERPRISE)?_TOKEN$/.test(name),
  );
  const args = ["auth", "token", "--hostname", host];
  return (await capture({ file: ghProgram(), args, cwd: "/", env: Object.fromEntries(own) })).ok;
}

/** `gh version 2.23.0` */
export async function ghVersion(): Promise<string> {
  const file = ghProgram();
  const { stdout } = await capture({ file, args: ["--version"], cwd: "/", env: ghEnvironment() });
  return `${stdout.split("\n", 1)[0]?.replace(/ \(.*/, "") || "gh"} at ${file}`;
}

/** undefined: there was no answer. */
function answerIn({ stdout }: Captured): GhAnswer | undefined {
  const [, status] = /^HTTP\/[\d.]+ (\d{3})/.exec(stdout) ?? [];
  if (status === undefined) return undefined;
  const [head = "", separator = ""] = /^[\s\S]*?(\r?\n\r?\n)/.exec(stdout) ?? [stdout];
  const lines = head
    .slice(0, head.length - separator.length)
    .split(/\r?\n/)
    .slice(1);
  const headers = new Map(lines.map((line) => splitAt(line, ": ")));
  return { status: Number(status), headers, text: stdout.slice(head.length) };
}

function splitAt(line: string, separator: string): [string, string] {
  const at = line.indexOf(separator);
  return [line.slice(0, at).toLowerCase(), line.slice(at + separator.length)];
}

/** How long the server wants to be left alone; undefined: it does not say so. */
function limitOf({ status, headers, text }: GhAnswer): number | undefined {
  if (status !== 403 && status !== 429) return undefined;
  const after = Number(headers.get("retry-after"));
  if (headers.has("retry-after") && Number.isFinite(after)) return Math.max(1, after) * 1000;
  if (headers.get("x-ratelimit-remaining") === "0") {
    const resetMs = Number(headers.get("x-ratelimit-reset")) * 1000 - Date.now();
    return Math.max(1000, Number.isFinite(resetMs) ? resetMs : UNKNOWN_WAIT_MS);
  }
  return status === 429 || /rate limit|abuse detection/i.test(text) ? UNKNOWN_WAIT_MS : undefined;
}

function failureOf(
  { exitCode, stderr, timedOut }: Captured,
  answer: GhAnswer | undefined,
  host: string,
  asked: string,
): RalphError {
  if (exitCode === 4 || /gh auth login/.test(stderr))
    return new RalphError(`gh is not logged in to ${host}`, {
      code: "gh_login",
      hint: `gh auth login --hostname ${host}`,
    });
  const said = stderr.trim().split("\n", 1)[0] ?? "";
  const why = timedOut
    ? `no answer within ${TIMEOUT_MS / 1000} s`
    : answer === undefined
      ? said || "gh gave no answer"
      : `HTTP ${answer.status}`;
  return new RalphError(`cannot reach ${host}: ${why} (${asked})`, {
    code: "forge_unreachable",
    hint: "check the network and https://githubstatus.com, then try again",
  });
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
