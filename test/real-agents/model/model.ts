import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { ampRequest } from "./amp.js";
import { anthropic } from "./anthropic.js";
import { chat } from "./chat.js";
import type { Body, Dialect, Turn } from "./dialect.js";
import { gemini } from "./gemini.js";
import { type Reply, replyTo, send, whole } from "./reply.js";
import { responses } from "./responses.js";

const DIALECTS: Dialect[] = [anthropic, responses, chat, gemini];

/** A model that follows a script, on loopback, for agents that believe it is their provider. */
export interface Model {
  url: string;
  /** What it was asked for the work, as it was sent, in order. */
  asked: string[];
  /** What was looked for beside a model: nobody should want anything else. */
  strays: string[];
  close(): void;
}

/** Each question for the work takes the next turn; the last one is repeated. */
export async function startModel(turns: Turn[]): Promise<Model> {
  const asked: string[] = [];
  const strays: string[] = [];
  const next = (question: string): Turn => {
    asked.push(question);
    return turns[Math.min(asked.length, turns.length) - 1] ?? {};
  };
  const server = createServer((request, response) => {
    void textOf(request).then((text) => send(response, answer(request, text, next, strays)));
  });
  // It is also the proxy: what is meant for other hosts comes here, and no further.
  server.on("connect", ({ url }, socket) => {
    strays.push(`CONNECT ${url}`);
    socket.on("error", () => socket.destroy());
    socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, asked, strays, close: () => closeAll(server) };
}

function closeAll(server: Server): void {
  server.close();
  server.closeAllConnections();
}

function answer(
  { method = "", url = "" }: IncomingMessage,
  text: string,
  next: (question: string) => Turn,
  strays: string[],
): Reply {
  const path = (url.split("?")[0] ?? "").replace(/\/+/g, "/");
  const dialect = DIALECTS.find(({ speaks }) => url.startsWith("/") && speaks(path));
  if (dialect !== undefined) return spoken(dialect, path, text, next);
  const known = beside(method, path, url);
  if (known !== undefined) return { status: 200, body: { json: known }, line: "ends" };
  if (!EXPECTED.test(path)) strays.push(`${method} ${url}`);
  return { status: 404, body: { json: { error: { message: "nothing but a model" } } }, line: "ends" };
}

/** OpenCode looks for its plugins in the registry, which it was told is here. */
const EXPECTED = /^\/@opencode-ai(?:\/|%2f)plugin/i;

function spoken(dialect: Dialect, path: string, text: string, next: (question: string) => Turn): Reply {
  const body = JSON.parse(text) as Body;
  const asked = dialect.read(body, path);
  if (asked.aside !== undefined) return whole(asked.aside, asked, dialect, body);
  return replyTo(next(text), asked, dialect, body);
}

/** What else a service of models has. */
function beside(method: string, path: string, url: string): unknown {
  if (path.endsWith("/count_tokens")) return { input_tokens: 100 };
  if (path.endsWith(":countTokens")) return { totalTokens: 100 };
  if (method === "GET" && path.endsWith("/models")) return { object: "list", data: [], models: [] };
  return ampRequest(path, url);
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
