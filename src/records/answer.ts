import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Question } from "../events.js";
import { writeAtomic } from "./files.js";
import type { RunFolder } from "./runs.js";
import { has } from "./shape.js";
import { pendingSteering } from "./steering.js";

/** Keeps what a human answers until the run goes on. Whoever answers again means the new answer. */
export function storeAnswer(folder: RunFolder, question: Question, text: string): void {
  writeAtomic(fileOf(folder), `${JSON.stringify({ question: question.text, answer: text })}\n`);
}

export function hasAnswer(folder: RunFolder): boolean {
  return existsSync(fileOf(folder));
}

/** All that somebody wants the next iteration to know. It stays on the disk until it was taken. */
export function pendingWords(folder: RunFolder): { text: string; taken(): void } | undefined {
  const [answer, steering] = [answerText(folder), pendingSteering(folder)];
  if (answer === undefined) return steering;
  return {
    text: [answer, ...(steering === undefined ? [] : [steering.text])].join("\n\n"),
    taken() {
      rmSync(fileOf(folder), { force: true });
      steering?.taken();
    },
  };
}

function answerText(folder: RunFolder): string | undefined {
  if (!hasAnswer(folder)) return undefined;
  try {
    const value: unknown = JSON.parse(readFileSync(fileOf(folder), "utf8"));
    if (!has(value, { question: "string", answer: "string" })) return undefined;
    return `An agent before you asked: ${value["question"]}\nThe answer is: ${value["answer"]}`;
  } catch {
    return undefined;
  }
}

function fileOf({ path }: RunFolder): string {
  return join(path, "answer.json");
}
