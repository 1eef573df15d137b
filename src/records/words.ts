import { appendFileSync, existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Question } from "../events.js";
import { makePrivateFolder, writeAtomic } from "./files.js";
import { inTurn } from "./lock.js";
import type { RunFolder } from "./runs.js";
import { has } from "./shape.js";

/** Keeps what a person answers until the run goes on. A second answer replaces the first. */
export function storeAnswer(run: RunFolder, question: Question, text: string): void {
  makePrivateFolder(run.home);
  writeAtomic(answerFile(run), `${JSON.stringify({ question: question.text, answer: text })}\n`);
}

export function hasAnswer(run: RunFolder): boolean {
  return existsSync(answerFile(run));
}

/** Adds words for the next iteration of a run. */
export function addSteering(run: RunFolder, text: string): void {
  makePrivateFolder(run.home);
  const { waiting, turn } = steeringFiles(run);
  inTurn(turn, () => appendFileSync(waiting, `${JSON.stringify(text)}\n`, { mode: 0o600 }));
}

/** The answer and the words of `ralph steer` for the next iteration. They stay on the disk until they are taken. */
export function pendingWords(run: RunFolder): { text: string; taken(): void } | undefined {
  const [answer, steering] = [answerText(run), pendingSteering(run)];
  if (answer === undefined && steering === undefined) return undefined;
  return {
    text: [answer, steering].filter((text) => text !== undefined).join("\n\n"),
    taken() {
      if (answer !== undefined) rmSync(answerFile(run), { force: true });
      if (steering !== undefined) rmSync(steeringFiles(run).taking, { force: true });
    },
  };
}

function answerText(run: RunFolder): string | undefined {
  const value = hasAnswer(run) ? parsed(readFileSync(answerFile(run), "utf8")) : undefined;
  if (!has(value, { question: "string", answer: "string" })) return undefined;
  return `An agent before you asked: ${value["question"]}\nThe answer is: ${value["answer"]}`;
}

/** In the order in which they were said. */
function pendingSteering(run: RunFolder): string | undefined {
  const { waiting, taking, turn } = steeringFiles(run);
  if (!existsSync(waiting) && !existsSync(taking)) return undefined;
  return inTurn(turn, () => {
    // A crash may have left some that were never taken.
    if (existsSync(taking) && existsSync(waiting)) appendFileSync(taking, readFileSync(waiting));
    else if (existsSync(waiting)) renameSync(waiting, taking);
    rmSync(waiting, { force: true });
    const texts = readFileSync(taking, "utf8").split("\n").map(parsed);
    return texts.filter((text) => typeof text === "string").join("\n\n");
  });
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function answerFile({ path }: RunFolder): string {
  return join(path, "answer.json");
}

function steeringFiles({ path }: RunFolder): { waiting: string; taking: string; turn: string } {
  const waiting = join(path, "steering.ndjson");
  return { waiting, taking: `${waiting}.taking`, turn: join(path, "steering.lock") };
}
