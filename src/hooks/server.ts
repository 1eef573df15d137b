import { createHash, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { alert, thresholdOf } from "./context.cjs";
import {
  answerToTooMuch,
  block,
  type HookAnswer,
  type HookInput,
  MAX_BLOCKS,
  MAX_INPUT_BYTES,
  readInput,
} from "./hook.cjs";

/** The agent's event for each answer. */
export const EVENTS = { stop: "Stop", context: "PostToolUse", "pre-tool-use": "PreToolUse" } as const;

export type LoopHookName = keyof typeof EVENTS;

/** The function that answers each event, by path: `/stop` is `stop`. */
export type Answers = Partial<Record<LoopHookName, (input: HookInput) => Promise<HookAnswer>>>;

const REQUEST_MS = 10_000;
const CHECK_MS = 1000;

/** Answers agents of this machine; does not keep the process alive. undefined: it cannot listen. */
export async function startHookServer(token: string, answers: Answers, requestMs: number = REQUEST_MS) {
  // Disconnects a client that sends too slowly.
  const patience = { requestTimeout: requestMs, headersTimeout: requestMs };
  const connectionsCheckingInterval = Math.min(requestMs, CHECK_MS);
  const server = createServer({ ...patience, connectionsCheckingInterval }, (request, response) => {
    const refused = refusal(request, token);
    if (refused === undefined) void handle(request, response, answers);
    else reply(response, refused);
  });
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
  // The name of the hook follows the slash.
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close };
}

export type HookServer = NonNullable<Awaited<ReturnType<typeof startHookServer>>>;

/** Pages in a browser, other hosts, and clients without the token get nothing. */
function refusal({ method, headers, socket }: IncomingMessage, token: string): number | undefined {
  const isOwnHost = headers.host === `127.0.0.1:${socket.localPort}`;
  if (!isOwnHost || headers.origin !== undefined) return 403;
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  // Takes the same time for wrong and right tokens.
  const isKnown = timingSafeEqual(digest(headers.authorization ?? ""), digest(`Bearer ${token}`));
  if (!isKnown) return 401;
  return method === "POST" ? undefined : 405;
}

async function handle(request: IncomingMessage, response: ServerResponse, answers: Answers): Promise<void> {
  const name = (request.url ?? "").slice(1);
  const answer = Object.hasOwn(answers, name) ? answers[name as LoopHookName] : undefined;
  if (answer === undefined) return reply(response, 404);
  const text = await bodyOf(request);
  if (text === undefined) {
    const tooMuch = answerToTooMuch(name);
    return reply(response, tooMuch === undefined ? 413 : 200, tooMuch);
  }
  const input = readInput(text);
  if (input === undefined) return reply(response, 400);
  try {
    reply(response, 200, await answer(input));
  } catch {
    // If the answer fails, the verification after the agent's exit finds what it would have said.
    reply(response, 200);
  }
}

/** undefined: too long, or cut off. Reads to the end: a client that still writes reads no answer. */
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

/** Stop reading a refused request. */
function reply(response: ServerResponse, status: number, answer: HookAnswer = {}): void {
  if (status !== 200) response.setHeader("connection", "close");
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(answer));
}

interface LoopAnswersOptions {
  /** Why the agent may not stop yet; absent: any stop is fine. */
  mayStop?: (() => Promise<string | undefined>) | undefined;
  /** The answer before a tool call; absent: every call is allowed. */
  guard?: ((input: HookInput) => HookAnswer) | undefined;
  /** Whether the agent notes what remains in the project's stories. */
  keepsStories: boolean;
}

/** The loop's answers to the hooks of the agents that it calls, one after the other. */
export function loopAnswers({ mayStop, guard, keepsStories }: LoopAnswersOptions) {
  let call = { window: Number.POSITIVE_INFINITY, alerted: 0, blocks: 0 };
  const answers: Answers = {
    async context({ transcript }) {
      const threshold = thresholdOf(transcript, call.window);
      if (threshold === undefined || threshold <= call.alerted) return undefined;
      call.alerted = threshold;
      return alert(threshold, keepsStories ? "stories" : "loop");
    },
    ...(guard && { "pre-tool-use": async (input) => guard(input) }),
    ...(mayStop && {
      async stop() {
        // After so many blocks, the iteration's verification finds what is still wrong.
        const reason = call.blocks < MAX_BLOCKS ? await mayStop() : undefined;
        if (reason === undefined) return undefined;
        call.blocks += 1;
        return block(reason);
      },
    }),
  };
  /** A new call of an agent has had no warnings yet. `window`: tokens that fit into its context. */
  const beginCall = (window: number): void => {
    call = { window, alerted: 0, blocks: 0 };
  };
  return { answers, beginCall };
}
