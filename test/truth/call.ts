import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Agent } from "../../src/agents/agent.js";
import { command } from "../../src/agents/command.js";
import type { AgentReport } from "../../src/agents/report.js";
import { spent } from "../../src/agents/spending.js";
import { type CallEnd, conclude, ownWords } from "../../src/ask/conclude.js";
import { createReader } from "../../src/ask/run-agent.js";
import type { AgentFinished, AgentStop } from "../../src/events.js";
import type { AgentRun } from "../../src/loop/effects.js";
import type { Case, Step } from "./cases.js";
import { WRITERS, type Writer } from "./streams.js";

const FIXTURES = join(import.meta.dirname, "../fixtures");
/** The day on which the time of a limit is counted from. */
export const NOW = new Date("2026-11-15T12:00:00Z");
const SPOKEN = /^(?:say|tool|blocks)/;
const FAILURES = new Set(["fail", "status", "cut-off"]);

/** One call of an agent: what it writes is read as it would be read from a process. */
export function callOf(
  agent: Agent,
  { mode, prompt }: Pick<Case, "mode" | "prompt">,
  steps: Step[],
): AgentRun & Pick<AgentFinished, "exitCode"> {
  const isText = mode === "text";
  const text = written(isText ? command.name : agent.name, steps, prompt);
  const report = reportOf(isText ? command : agent, text);
  const message = ownWords(agent, report, prompt);
  const ended = {
    agent,
    mode,
    words: [agent.name],
    sandbox: undefined,
    allowOverage: false,
    report,
    message,
  };
  const ending = endingOf(agent.name, steps);
  const { costUsd } = spent(report);
  return {
    ...conclude({ ...ended, ...ending, now: NOW }),
    stopped: ending.stopped?.reason ?? null,
    finalMessage: message,
    costUsd,
    durationMs: 0,
    steps: report.steps,
    exitCode: ending.exit.exitCode,
  };
}

function reportOf(agent: Agent, text: string): AgentReport {
  const reader = createReader(agent.parse);
  const bytes = Buffer.from(text);
  // A chunk ends anywhere, also in the middle of a character.
  const middle = Math.floor(bytes.length / 2);
  reader.push({ from: "stdout", data: bytes.subarray(0, middle) });
  reader.push({ from: "stdout", data: bytes.subarray(middle) });
  reader.end();
  return reader.report;
}

function written(name: string, steps: Step[], prompt: string): string {
  const writer = WRITERS[name] as Writer;
  const recorded = steps.find(({ verb }) => verb === "recorded");
  if (recorded !== undefined) return readFileSync(join(FIXTURES, `${recorded.text}.ndjson`), "utf8");
  const isRaw = steps.some(({ verb }) => verb === "line");
  const lines = [...(isRaw ? [] : (writer.begin?.(prompt) ?? [])), ...steps.flatMap(linesOf(writer))];
  const isWhole = steps.some(({ verb }) => verb === "end");
  const isOpen = isRaw || steps.some(({ verb }) => FAILURES.has(verb) || verb === "result" || verb === "cut");
  const all = [...lines, ...(isOpen && !isWhole ? [] : (writer.end?.(lastWords(steps)) ?? []))];
  const text = all.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n");
  const cut = steps.find(({ verb }) => verb === "cut");
  return cut === undefined ? `${text}\n` : text.slice(0, text.length - Number(cut.text || 0));
}

function linesOf(writer: Writer) {
  return ({ verb, text }: Step, number: number): (string | object)[] =>
    verb === "line" ? [text] : (writer.verbs[verb]?.(text, number) ?? []);
}

/** What was said after the last tool. */
function lastWords(steps: Step[]): string {
  const last = steps.findLast(({ verb }) => SPOKEN.test(verb));
  return last?.verb === "say" ? last.text : "";
}

function endingOf(name: string, steps: Step[]): Pick<CallEnd, "exit" | "stopped" | "stderr"> {
  const of = (wanted: string): string | undefined => steps.find(({ verb }) => verb === wanted)?.text;
  const hasFailed = steps.some(({ verb }) => FAILURES.has(verb));
  const usual = hasFailed ? (WRITERS[name]?.exitAfterFailure ?? 1) : 0;
  const signal = (of("signal") ?? null) as NodeJS.Signals | null;
  const stopped = of("stopped") as AgentStop | undefined;
  return {
    exit: { exitCode: signal === null ? Number(of("exit") ?? usual) : null, signal },
    stopped: stopped === undefined ? null : { reason: stopped, explanation: `ended: ${stopped}` },
    stderr: of("stderr") ?? "",
  };
}
