import { existsSync, rmSync } from "node:fs";
import type { Question } from "../events.js";
import { has, makePrivateFolder, readJson, writeAtomic } from "./files.js";
import { inTurn } from "./lock.js";
import type { RunFolder } from "./runs.js";

const answerFile = ({ path }: RunFolder): string => `${path}/answer.json`;
const steeringFile = ({ path }: RunFolder): string => `${path}/steering.json`;

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
  changeSteering(run, (texts) => [...texts, text]);
}

/** The answer and the words of `ralph steer` for the next iteration. They stay on the disk until they are taken. */
export function pendingWords(run: RunFolder): { text: string; taken(): void } | undefined {
  const value = readJson(answerFile(run));
  const answers = has(value, { question: "string", answer: "string" })
    ? [`An earlier agent asked: ${value["question"]}\nThe answer is: ${value["answer"]}`]
    : [];
  const said = steeringOf(run);
  if (answers.length + said.length === 0) return undefined;
  return {
    text: [...answers, ...said].join("\n\n"),
    taken() {
      if (answers.length > 0) rmSync(answerFile(run), { force: true });
      // More may have been said since.
      if (said.length > 0) changeSteering(run, (texts) => texts.slice(said.length));
    },
  };
}

/** What was said for the next iteration and is not taken yet. */
export function steeringOf(run: RunFolder): string[] {
  const texts = readJson(steeringFile(run));
  return Array.isArray(texts) ? texts.map(String) : [];
}

function changeSteering(run: RunFolder, change: (texts: string[]) => string[]): void {
  const write = (): void => writeAtomic(steeringFile(run), JSON.stringify(change(steeringOf(run))));
  inTurn(`${run.path}/steering.lock`, write);
}
