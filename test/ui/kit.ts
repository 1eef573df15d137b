import { mkdirSync, writeFileSync } from "node:fs";
import { type IncomingHttpHeaders, request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import type { LoopEvent, LoopEventBody } from "../../src/events.js";
import { serveDashboard } from "../../src/ui/server/serve.js";
import { atEnd, LIMITS, temporaryFolder } from "../kit.js";

/** A server over a home, and a browser that was let in. */
export async function dashboardOf(home: string, more: { readOnly?: boolean; token?: string } = {}) {
  const serving = await serveDashboard({ home, port: 0, host: "127.0.0.1", readOnly: false, ...more });
  atEnd(() => serving.close());
  const { port } = serving;
  const enter = async (): Promise<string> => {
    const { headers } = await send(port, serving.link());
    return String(headers["set-cookie"]?.[0]).split(";")[0] as string;
  };
  const cookie = await enter();
  const own = { host: `127.0.0.1:${port}`, cookie };
  const origin = `http://127.0.0.1:${port}`;
  return {
    ...{ port, cookie, origin, link: serving.link, close: serving.close },
    get: (path: string, headers = {}) => send(port, path, { headers: { ...own, ...headers } }),
    post: (path: string, body: unknown, headers = {}, method = "POST") =>
      send(port, path, {
        method,
        headers: { ...own, origin, "content-type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    /** The messages of its stream until there are so many. */
    live: (query: string, count: number, headers = {}) =>
      messages(port, `/api/live${query}`, { ...own, ...headers }, count),
  };
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  json: unknown;
}

interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** `fetch` would not let a test say who it pretends to be. */
export function send(
  port: number,
  path: string,
  { method = "GET", headers = {}, body }: Sent = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: "127.0.0.1", port, path, method, headers, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => {
        const isJson = /json/.test(response.headers["content-type"] ?? "");
        const { statusCode: status = 0, headers } = response;
        resolve({ status, headers, text, json: isJson ? JSON.parse(text) : undefined });
      });
    });
    asked.on("error", reject);
    // Node tells the length of a body by itself for POST and PUT alone.
    if (body !== undefined) asked.setHeader("content-length", Buffer.byteLength(body));
    asked.end(body);
  });
}

/** As it stands, to the end of the connection. */
export function sendRaw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk;
    });
    socket.on("error", reject).on("close", () => resolve(said));
  });
}

export interface Message {
  id: string | undefined;
  event: string;
  data: unknown;
}

function messages(
  port: number,
  path: string,
  headers: Record<string, string>,
  count: number,
): Promise<Message[]> {
  return new Promise((resolve, reject) => {
    let text = "";
    const asked = request({ host: "127.0.0.1", port, path, headers, agent: false }, (response) => {
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
        const found = text.split("\n\n").slice(0, -1).map(messageIn);
        const entries = found.filter(({ event }) => event === "entry");
        if (entries.length < count) return;
        asked.destroy();
        resolve(entries.slice(0, count));
      });
    });
    asked.on("error", reject);
    asked.end();
  });
}

function messageIn(block: string): Message {
  const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
  return { id: field("id"), event: field("event") ?? "", data: JSON.parse(field("data") ?? "null") };
}

export const RUN = "20261101-120000-00000a";

/** A home with one run whose journal holds these events. */
export function homeWith(
  bodies: LoopEventBody[],
  { id = RUN, home = temporaryFolder(), name = "calm-otter", torn = "", task = "do it", recipe = {} } = {},
): { home: string; journal: string; id: string; workspace: string } {
  const folder = join(home, "runs", id);
  const workspace = join(home, "project");
  mkdirSync(folder, { recursive: true });
  mkdirSync(join(home, "locks"), { recursive: true });
  mkdirSync(workspace, { recursive: true });
  const spec = { v: 1, id, createdAt: at(0), workspace, name, recipe: { kind: "checks", task, ...recipe } };
  writeFileSync(
    join(folder, "spec.json"),
    JSON.stringify({ ...spec, agent: { name: "claude", words: ["claude"] }, limits: LIMITS }),
  );
  const journal = join(folder, "journal.ndjson");
  writeFileSync(journal, bodies.map((body, index) => line(body, index, id)).join("") + torn);
  return { home, journal, id, workspace };
}

/** As the loop writes it. */
export function line(body: LoopEventBody, second = 0, run = RUN): string {
  const { type, ...fields } = body;
  return `${JSON.stringify({ v: 1, type, ts: at(second), run, ...fields } as unknown as LoopEvent)}\n`;
}

function at(second: number): string {
  return new Date(Date.UTC(2026, 10, 1, 12) + second * 1000).toISOString();
}

const SPENT = { costUsd: 0.5, inputTokens: 100, outputTokens: 10, cacheReadTokens: 0, cacheWriteTokens: 0 };
const TOTALS = {
  ...{ costUsd: 0.5, inputTokens: 100, outputTokens: 10, activeMs: 3000 },
  ...{ consecutiveFailures: 0, alike: 0 },
};

/** What one iteration writes: `words` is what the agent says, as pieces of one text. */
export function iterationOf(iteration: number, words: string[] = ["hello ", "world"]): LoopEventBody[] {
  const own = { iteration };
  return [
    { type: "iteration.started", ...own },
    { type: "agent.started", ...own, agent: "claude", command: ["claude"], attempt: 1, prompt: "go" },
    ...words.map((text) => ({
      type: "agent.event" as const,
      ...own,
      event: { type: "text" as const, text, delta: true as const },
    })),
    {
      type: "agent.event",
      ...own,
      event: { type: "tool_start", id: `t${iteration}`, name: "Bash", input: "npm test" },
    },
    {
      type: "agent.event",
      ...own,
      event: { type: "tool_end", id: `t${iteration}`, isError: false, output: "ok", lines: 1, chars: 2 },
    },
    {
      ...{ type: "agent.finished", ...own, ...SPENT, exitCode: 0, signal: null, durationMs: 2000, steps: 1 },
      ...{ error: null, empty: false, stopped: null, finalMessage: words.join(""), log: "" },
    },
    {
      ...{ type: "check.finished", ...own, command: "npm test", exitCode: 1, signal: null, timedOut: false },
      ...{ passed: false, durationMs: 1000, log: "", output: "1 failed" },
    },
    {
      type: "iteration.finished",
      ...own,
      passed: false,
      reason: "1 of 1 checks failed",
      durationMs: 3000,
      claimedDone: false,
      totals: TOTALS,
    },
  ];
}

export const STARTED: LoopEventBody = {
  ...{ type: "run.started", recipe: "checks", agent: "claude", credentials: null },
  ...{ workspace: "/work", limits: LIMITS },
};

export function blocked(text: string, iterations = 1): LoopEventBody {
  return {
    ...{ type: "run.finished", success: false, reason: "blocked", exitCode: 1, iterations, costUsd: 0.5 },
    ...{ inputTokens: 100, outputTokens: 10, durationMs: 3000, filesChanged: null, worktree: null },
    ...{ message: `the agent asks: ${text}`, question: { kind: "decide", text } },
  };
}
