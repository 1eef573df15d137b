/** What the model does when it is asked. */
export interface Turn {
  say?: string;
  /** A command for the shell of the agent. */
  bash?: string;
  /** The service refuses. */
  fail?: Failure;
  /** The connection breaks in the middle of the answer. */
  cut?: true;
  /** Nothing ever comes. */
  hang?: true;
}

export interface Failure {
  status: number;
  type: string;
  message: string;
  headers?: Record<string, string>;
  /** Fields beside the message, where a service has some. */
  more?: Record<string, unknown>;
}

/** What the agent gets to hear. */
export interface Answer {
  text: string;
  call?: ToolCall | undefined;
}

export interface ToolCall {
  name: string;
  input: Record<string, unknown>;
}

/** One piece of a stream. */
export interface Piece {
  event?: string;
  data: unknown;
}

export interface Asked {
  /** Tools that the agent offers. */
  tools: string[];
  /** What the shell of this agent wants to be called with. */
  shell: (command: string) => ToolCall | undefined;
  /** Whether the answer is wanted in pieces. */
  streams: boolean;
  /** What is said to a question beside the work, such as one for a title; undefined: this one is the work. */
  aside?: Answer | undefined;
}

/** How one kind of service is spoken to. */
export interface Dialect {
  speaks(path: string): boolean;
  read(body: Body, path: string): Asked;
  pieces(answer: Answer, body: Body): Piece[];
  whole(answer: Answer, body: Body): unknown;
  failure(failure: Failure): unknown;
}

export type Body = Record<string, unknown>;

export const USAGE = { input: 1000, output: 50, cached: 200 };

let ids = 0;
export function newId(prefix: string): string {
  ids += 1;
  return `${prefix}_${String(ids).padStart(24, "0")}`;
}

/** Two halves: an answer that is cut has begun. */
export function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== "");
}

export function listIn(body: Body, key: string): Body[] {
  const value = body[key];
  return Array.isArray(value) ? (value as Body[]) : [];
}
