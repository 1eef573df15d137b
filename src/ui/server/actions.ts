import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { PROGRAM } from "../../package-folder.cjs";
import { type Command, capture, startDetached } from "../../process/run.js";
import type { RunFolder } from "../../records/runs.js";
import { hasAnswer, storeAnswer } from "../../records/words.js";
import { screenOf, typeInto } from "../../workers/control.js";
import { readWorker, type Worker } from "../../workers/worker.js";
import { comment } from "./diffs.js";
import type { Listener } from "./live.js";
import { questionId } from "./overview.js";
import { shownJson } from "./text.js";

/** What a page may ask for. All but an answer is done by the command of that name. */

/** What came of it, in a line. */
interface Done {
  ok: boolean;
  said: string;
}

const Text = z.string().trim().min(1).max(20_000);
const Limits = z.strictObject({
  maxIterations: z.number().int().positive().optional(),
  maxCost: z.number().positive().optional(),
  maxTokens: z.number().int().positive().optional(),
  maxTime: z.string().max(20).optional(),
});

export const Wish = z.discriminatedUnion("action", [
  z.strictObject({
    action: z.literal("answer"),
    question: z.string(),
    text: Text,
    replaces: z.boolean().optional(),
  }),
  z.strictObject({ action: z.literal("steer"), text: Text }),
  z.strictObject({
    ...{ action: z.literal("comment"), piece: z.string(), commit: z.string().nullable() },
    ...{ line: z.number().int().nonnegative(), text: Text, iteration: z.number().int().optional() },
    lane: z.string().max(200).optional(),
  }),
  z.strictObject({ action: z.literal("type"), keys: z.string().min(1).max(4096) }),
  z.strictObject({ action: z.literal("pause") }),
  z.strictObject({ action: z.literal("resume") }),
  z.strictObject({ action: z.literal("raise"), limits: Limits }),
  z.strictObject({ action: z.literal("kill") }),
  z.strictObject({ action: z.literal("land") }),
  z.strictObject({ action: z.literal("pr") }),
]);
export type Wish = z.infer<typeof Wish>;

export async function fulfil(run: RunFolder, wish: Wish): Promise<Done> {
  switch (wish.action) {
    case "answer":
      return answer(run, wish);
    case "comment": {
      const why = await comment(run, wish);
      return why === undefined ? { ok: true, said: "the next iteration gets this comment" } : refused(why);
    }
    case "type":
      return (await typeTo(run, wish.keys)) ? { ok: true, said: "typed" } : refused("the window is gone");
    case "steer":
      return command(run, ["steer", run.id, "--", wish.text]);
    case "resume":
      return resume(run, []);
    case "raise":
      return raise(run, wish.limits);
    default:
      return command(run, [wish.action, run.id]);
  }
}

/** Looked at and written without a pause in between: the answer is for the question that was shown. */
function answer(run: RunFolder, { question: shown, text, replaces }: Wish & { action: "answer" }): Done {
  const { question, iterations = 0 } = run.state() ?? {};
  if (question === undefined || run.loop() !== undefined) return refused("the run no longer asks anything");
  if (questionId(question, iterations) !== shown)
    return refused("the question has changed: read and answer the new one");
  if (hasAnswer(run) && replaces !== true) return refused("somebody else has answered already");
  storeAnswer(run, question, text);
  return { ok: true, said: "answered; resume continues the run" };
}

function refused(said: string): Done {
  return { ok: false, said };
}

/** A living run keeps its limits, so ralph ends it and continues it with new ones. */
async function raise(run: RunFolder, limits: z.infer<typeof Limits>): Promise<Done> {
  const { maxIterations, maxCost, maxTokens, maxTime } = limits;
  const flags = Object.entries({ maxIterations, maxCost, maxTokens, maxTime }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name.replace(/[A-Z]/g, (sign) => `-${sign.toLowerCase()}`)}=${value}`],
  );
  if (flags.length === 0) return refused("no limit was given");
  if (run.loop() !== undefined) {
    const ended = await command(run, ["kill", run.id]);
    if (!ended.ok) return ended;
  }
  return resume(run, flags);
}

/** A loop without a window of its own gets a process that outlives this server. */
async function resume(run: RunFolder, flags: string[]): Promise<Done> {
  const isWorker = run.shown().worker !== undefined;
  if (isWorker || existsSync(run.pause)) {
    const done = await command(run, ["resume", run.id, ...flags]);
    if (done.ok || run.loop() !== undefined) return done;
  }
  if (run.loop() !== undefined) return refused("it is running");
  const began = startDetached(ralph(run, ["resume", run.id, ...flags, "--quiet"]));
  const until = performance.now() + START_MS;
  while (performance.now() < until) {
    if (run.loop() !== undefined) return { ok: true, said: "it continues" };
    const end = began.ended();
    if (end !== undefined)
      return end.exitCode === 0 ? { ok: true, said: "it continues" } : refused(plain(end.said));
    await sleep(POLL_MS);
  }
  return refused("it has not started within 30 s: ralph resume in a terminal shows why");
}

const START_MS = 30_000;
const POLL_MS = 50;
/** Longer than a loop takes to end. */
const COMMAND_MS = 120_000;

function ralph(run: RunFolder, words: string[]): Command {
  const { origin, workspace } = run.shown();
  const cwd = [origin, workspace].find((path) => path !== undefined && existsSync(path)) ?? "/";
  return { file: process.execPath, args: [PROGRAM, ...words], cwd, env: { ...process.env, NO_COLOR: "1" } };
}

async function command(run: RunFolder, words: string[]): Promise<Done> {
  const { ok, stdout, stderr } = await capture(ralph(run, words), { timeoutMs: COMMAND_MS });
  const warnings = stderr.split("\n").filter((line) => line.startsWith("ralph: warning: "));
  const done = [stdout.trim(), ...warnings].join("\n").trim();
  return { ok, said: plain(ok ? done || stderr : stderr || stdout) };
}

/** `ralph: error: what` is what. */
function plain(said: string): string {
  const text = said.trim().replace(/^ralph: (?:error|warning): /gm, "");
  return text === "" ? "it failed without a message" : text;
}

/** The worker that is the loop of a run; undefined: it has no window. */
function workerOf(run: RunFolder): Worker | undefined {
  const { worker: name } = run.shown();
  const worker = name === undefined ? undefined : readWorker(run.home, name);
  return worker?.record?.run === run.id && worker.loop !== undefined ? worker : undefined;
}

const LOOK_MS = 120;

/** Tells what the window shows, each time that it shows something else, until it is gone. */
export async function tellScreens(run: RunFolder, { write, signal }: Listener): Promise<void> {
  let last = "";
  while (!signal.aborted) {
    const worker = workerOf(run);
    const screen = worker && (await screenOf(worker));
    const text = shownJson(screen ?? null);
    if (text !== last) await write(`event: screen\ndata: ${text}\n\n`);
    last = text;
    if (screen === undefined) return;
    await sleep(LOOK_MS);
  }
}

async function typeTo(run: RunFolder, keys: string): Promise<boolean> {
  const worker = workerOf(run);
  return worker !== undefined && (await typeInto(worker, keys));
}
