import type { ServerResponse } from "node:http";
import type { Answer, Asked, Body, Dialect, Piece, Turn } from "./dialect.js";

/** What goes back over the line. */
export interface Reply {
  status: number;
  headers?: Record<string, string> | undefined;
  /** One answer in JSON, or the pieces of a stream. */
  body: { json: unknown } | { pieces: Piece[] };
  /** What then becomes of the line. */
  line: "ends" | "breaks" | "stays silent";
}

/** What the service makes of a turn of the script. */
export function replyTo(turn: Turn, asked: Asked, dialect: Dialect, body: Body): Reply {
  if (turn.fail !== undefined) {
    const { status, headers } = turn.fail;
    return { status, headers, body: { json: dialect.failure(turn.fail) }, line: "ends" };
  }
  const call = turn.bash === undefined ? undefined : asked.shell(turn.bash);
  const reply = whole({ text: turn.say ?? "", call }, asked, dialect, body);
  if (turn.hang) return { ...reply, body: { pieces: [] }, line: "stays silent" };
  return turn.cut ? { ...reply, body: firstHalf(reply.body), line: "breaks" } : reply;
}

export function whole(answer: Answer, { streams }: Asked, dialect: Dialect, body: Body): Reply {
  const told = streams ? { pieces: dialect.pieces(answer, body) } : { json: dialect.whole(answer, body) };
  return { status: 200, body: told, line: "ends" };
}

function firstHalf(body: Reply["body"]): Reply["body"] {
  const pieces = "pieces" in body ? body.pieces : [];
  return { pieces: pieces.slice(0, Math.ceil(pieces.length / 2)) };
}

export function send(response: ServerResponse, { status, headers, body, line }: Reply): void {
  const isStream = "pieces" in body;
  const type = isStream ? "text/event-stream" : "application/json";
  if (line === "stays silent") return;
  response.writeHead(status, { "content-type": type, ...headers });
  const text = isStream ? body.pieces.map(lines).join("") : JSON.stringify(body.json);
  if (line === "breaks") response.write(text, () => response.destroy());
  else response.end(text);
}

function lines({ event, data }: Piece): string {
  const name = event === undefined ? "" : `event: ${event}\n`;
  return `${name}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
}
