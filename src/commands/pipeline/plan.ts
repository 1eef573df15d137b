import { formatDuration } from "../../duration.js";
import type { Pipeline } from "../../recipes/pipeline/file/load-pipeline.js";
import { COMPLETE } from "../../recipes/pipeline/spec.js";
import { harmlessJson, harmlessLine } from "../../views/harmless.js";
import { tableLines } from "../../views/table.js";
import { type OutputFlags, printAll } from "../output.js";

/** `--dry-run`: the states and their gates. Nothing is run and nothing is written. */
export async function showPlan(specFile: string, pipeline: Pipeline, flags: OutputFlags): Promise<number> {
  const { states, maxGateRetries } = pipeline;
  if (flags.json) {
    await printAll(`${harmlessJson({ v: 1, specFile, ...pipeline }, 2)}\n`);
    return 0;
  }
  const rows = states.map(({ name, agent, timeoutMs, command }, index) => [
    String(index + 1),
    name,
    agent,
    formatDuration(timeoutMs),
    harmlessLine(command),
  ]);
  const header = ["#", "state", "agent", "timeout", "gate"];
  const layout = { width: process.stdout.columns };
  const table = tableLines([header, ...rows, [String(states.length + 1), COMPLETE, "", "", ""]], layout);
  const title = `Pipeline for ${harmlessLine(specFile)}, at most ${maxGateRetries} failures per gate:`;
  await printAll(`${[title, "", ...table, DRY].join("\n")}\n`);
  return 0;
}

const DRY = "\nDry run: nothing was run and nothing was written.";
