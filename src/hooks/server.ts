import { createHash, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { answerToTooMuch, type HookAnswer, type HookInput, MAX_INPUT_BYTES, readInput } from "./hook.cjs";

/** What answers an event, by its path: `/stop` is `stop`. */
export type Answers<Name extends string = string> = Partial<
  Record<Name, (input: HookInput) => Promise<HookAnswer>>
>;

export interface HookServer {
  /** Ends with a slash: the name of a hook comes after it. */
  url: string;
  close(): void;
}

const REQUEST_MS = 10_000;
const CHECK_MS = 1000;
const MAX_CONNECTIONS = 64;

/**
 * Answers the hooks of an agent on this machine, as long as a run lasts. It does not keep the process alive.
 * undefined where the system does not let it listen.
 */
export async function startHookServer(
  token: string,
  answers: Answers,
  requestMs: number = REQUEST_MS,
): Promise<HookServer | undefined> {
  // A client that sends too slowly is disconnected soon after, and does not keep others out for half a minute.
  const patience = { requestTimeout: requestMs, headersTimeout: requestMs };
  const connectionsCheckingInterval = Math.min(requestMs, CHECK_MS);
  const strangers = new Set<Socket>();
  const server = createServer({ ...patience, connectionsCheckingInterval }, (request, response) => {
    const refused = refusal(request, token);
    if (refused !== undefined) return reply(response, refused);
    strangers.delete(request.socket);
    // One that is kept for later is no better than one that has not sent anything yet.
    response.once("finish", () => request.socket.destroyed || strangers.add(request.socket));
    void handle(request, response, answers);
  });
  server.on("connection", (socket) => makeRoom(server, strangers, socket));
  server.unref();
  try {
    await once(server.listen(0, "127.0.0.1"), "listening");
  } catch {
    return undefined;
  }
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close };
}

/** A client with the token is heard, however many others there are: of those, the one that waits longest goes. */
function makeRoom(server: Server, strangers: Set<Socket>, socket: Socket): void {
  strangers.add(socket);
  socket.once("close", () => strangers.delete(socket));
  server.getConnections((_, count) => {
    const [longest] = strangers;
    if (count <= MAX_CONNECTIONS || longest === undefined) return;
    strangers.delete(longest);
    longest.destroy();
  });
}

/** Pages in a browser, other hosts and clients without the token get nothing. */
function refusal({ method, headers, socket }: IncomingMessage, token: string): number | undefined {
  const isOwnHost = headers.host === `127.0.0.1:${socket.localPort}`;
  if (!isOwnHost || headers.origin !== undefined) return 403;
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  // Takes as long for a wrong guess as for a good one.
  const isKnown = timingSafeEqual(digest(headers.authorization ?? ""), digest(`Bearer ${token}`));
  if (!isKnown) return 401;
  return method === "POST" ? undefined : 405;
}

async function handle(request: IncomingMessage, response: ServerResponse, answers: Answers): Promise<void> {
  const name = (request.url ?? "").slice(1);
  const answer = Object.hasOwn(answers, name) ? answers[name] : undefined;
  if (answer === undefined) return reply(response, 404);
  const text = await bodyOf(request);
  const tooMuch = text === undefined ? answerToTooMuch(name) : undefined;
  if (text === undefined) return reply(response, tooMuch === undefined ? 413 : 200, tooMuch);
  const input = readInput(text);
  if (input === undefined) return reply(response, 400);
  try {
    reply(response, 200, await answer(input));
  } catch {
    // What cannot be said now is found when the agent has ended: its work is verified in any case.
    reply(response, 200);
  }
}

/** undefined: too long, or cut off. It is read to its end: a client that is still writing hears no answer. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  if (Number(request.headers["content-length"] ?? 0) > MAX_INPUT_BYTES) return undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size <= MAX_INPUT_BYTES) chunks.push(chunk);
    }
  } catch {
    return undefined;
  }
  return size > MAX_INPUT_BYTES ? undefined : Buffer.concat(chunks).toString("utf8");
}

/** A request that was refused is not read any further. */
function reply(response: ServerResponse, status: number, answer: HookAnswer = {}): void {
  if (status !== 200) response.setHeader("connection", "close");
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(answer));
}
