import { parseDuration } from "../../../duration.js";
import { donePattern } from "../../../verify/done.js";
import { AGENT_TURNS, COMPLETE, type PipelineState, RESERVED } from "../spec.js";
import { checkOrder } from "./order.js";
import { type Entry, type YamlReader, yamlReader } from "./yaml-lines.js";

/** A state as it stands in the file: nothing is filled in yet. */
export interface WrittenState extends PipelineState {
  line: number;
  /** Where each of its values stands. */
  lines: Map<string, number>;
}

export interface PipelineFile {
  /** As the user knows it. */
  name: string;
  maxGateRetries: number | undefined;
  /** In the order in which they follow each other. */
  states: WrittenState[];
}

const STATE_KEYS = ["goal", "command", "passCondition", "onFail", "onPass", "agent", "timeout"];
const TIMEOUT_MS = 10 * 60_000;

/** A pipeline, or an error that names the line of the mistake. */
export async function readPipelineText(text: string, name: string): Promise<PipelineFile> {
  const reader = await yamlReader(text, name);
  const top = reader.fieldsOf(reader.root, "the file", 1, ["maxGateRetries", "states"]);
  const states = top.get("states");
  if (states === undefined) throw reader.mistake(1, '"states" is missing');
  const entries = reader.entriesOf(states.node, '"states"', states.line);
  if (entries.length === 0) throw reader.mistake(states.line, '"states" holds no state');
  const read = entries.map((entry, index) => stateOf(reader, entry, entries[index + 1]?.key ?? COMPLETE));
  const retries = top.get("maxGateRetries");
  return {
    name,
    maxGateRetries: retries && wholeNumber(reader, retries, Number.MAX_SAFE_INTEGER),
    states: checkOrder(read, reader.mistake),
  };
}

function stateOf(reader: YamlReader, entry: Entry, next: string): WrittenState {
  const { key: name, line } = entry;
  if (RESERVED.includes(name))
    throw reader.mistake(line, `${name} is no state of its own: choose another name`);
  if (!/^[A-Za-z][\w-]*$/.test(name))
    throw reader.mistake(line, `"${name}" is no name of a state: letters, digits, _ and - are`);
  const fields = reader.fieldsOf(entry.node, `state ${name}`, line, STATE_KEYS);
  const text = (key: string): string | undefined => textOf(reader, fields.get(key));
  const command = text("command");
  if (command === undefined) throw reader.mistake(line, `state ${name} has no "command"`);
  const lines = [...fields].map(([key, field]) => [key, reader.valueLine(field)] as const);
  return {
    name,
    line,
    lines: new Map(lines),
    goal: text("goal") ?? `The gate of ${name} passes.`,
    command,
    ...passCondition(reader, fields.get("passCondition")),
    onFail: text("onFail") ?? "",
    onPass: text("onPass") ?? next,
    agent: agentTurn(reader, fields.get("agent")),
    timeoutMs: timeout(reader, fields.get("timeout")),
  };
}

function textOf(reader: YamlReader, entry: Entry | undefined): string | undefined {
  if (entry === undefined) return undefined;
  const { value, line } = reader.valueOf(entry);
  if (typeof value === "string" && value.trim() !== "") return value;
  throw reader.mistake(line, `"${entry.key}" has ${JSON.stringify(value)}: expected some text`);
}

function passCondition(
  reader: YamlReader,
  entry: Entry | undefined,
): Pick<PipelineState, "exitCode" | "output"> {
  if (entry === undefined) return { exitCode: 0 };
  const fields = reader.fieldsOf(entry.node, '"passCondition"', entry.line, ["exitCode", "output"]);
  const exitCode = fields.get("exitCode");
  const output = fields.get("output");
  const pattern = textOf(reader, output);
  if (output !== undefined && pattern !== undefined) checkPattern(reader, output, pattern);
  return {
    exitCode: exitCode === undefined ? 0 : wholeNumber(reader, exitCode, 255),
    ...(pattern !== undefined && { output: pattern }),
  };
}

function checkPattern(reader: YamlReader, entry: Entry, pattern: string): void {
  try {
    donePattern(pattern);
  } catch (error) {
    throw reader.mistake(entry.line, `"output" is no regular expression: ${(error as Error).message}`);
  }
}

function wholeNumber(reader: YamlReader, entry: Entry, most: number): number {
  const { value, line } = reader.valueOf(entry);
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= most) return value;
  throw reader.mistake(
    line,
    `"${entry.key}" has ${JSON.stringify(value)}: expected a whole number from 0 ${most === Number.MAX_SAFE_INTEGER ? "on" : `to ${most}`}`,
  );
}

function agentTurn(reader: YamlReader, entry: Entry | undefined): PipelineState["agent"] {
  if (entry === undefined) return "on-fail";
  const { value, line } = reader.valueOf(entry);
  const found = AGENT_TURNS.find((turn) => turn === value);
  if (found !== undefined) return found;
  throw reader.mistake(line, `"agent" has ${JSON.stringify(value)}: expected ${AGENT_TURNS.join(", ")}`);
}

function timeout(reader: YamlReader, entry: Entry | undefined): number {
  if (entry === undefined) return TIMEOUT_MS;
  const { value, line } = reader.valueOf(entry);
  const ms = parseDuration(String(value));
  if (ms !== undefined && ms > 0) return ms;
  throw reader.mistake(
    line,
    `"timeout" has ${JSON.stringify(value)}: expected a duration, such as 90s, 10m or 2h`,
  );
}
