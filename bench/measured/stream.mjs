import { closeSync, openSync, readFileSync, readSync, writeSync } from "node:fs";
import { claude } from "../../dist/agents/claude.js";
import { addEvent, emptyReport } from "../../dist/agents/report.js";
import { createLineSplitter } from "../../dist/process/output.js";

const TEXT = "A sentence of the kind that agents write between two calls of a tool. ".repeat(9);
const SOURCE = Array.from(
  { length: 60 },
  (_, line) => `${line}\tconst value${line} = compute("${line}", { path: "/src/${line}.ts" });`,
).join("\n");
const SESSION = { parent_tool_use_id: null, session_id: "5c2644e7-0776-4994-bb5f-56d3892340ae" };
const USAGE = {
  input_tokens: 1000,
  cache_read_input_tokens: 200,
  cache_creation_input_tokens: 100,
  output_tokens: 1,
};

/** One turn of Claude Code: pieces of a message, the message, a tool call and its result. */
function* turn(number) {
  const id = `msg_${number}`;
  for (let piece = 0; piece < 6; piece += 1) {
    const delta = { type: "text_delta", text: TEXT.slice(piece * 20, piece * 20 + 24) };
    yield {
      type: "stream_event",
      event: { type: "content_block_delta", index: 0, delta },
      api_message_id: id,
      ...SESSION,
    };
  }
  const message = (content) => ({ id, type: "message", role: "assistant", content: [content], usage: USAGE });
  yield { type: "assistant", message: message({ type: "text", text: TEXT }), ...SESSION };
  const call = { type: "tool_use", id: `t${number}`, name: "Read", input: { file_path: "/src/a.ts" } };
  yield { type: "assistant", message: message(call), ...SESSION };
  const result = { type: "tool_result", tool_use_id: `t${number}`, content: SOURCE, is_error: false };
  yield {
    type: "user",
    message: { role: "user", content: [result] },
    tool_use_result: { stdout: SOURCE },
    ...SESSION,
  };
}

/** A stream of about this size that ends with success. */
export function writeStream(path, megabytes) {
  const file = openSync(path, "w");
  let bytes = 0;
  for (let number = 1; bytes < megabytes * 1e6; number += 1) {
    const lines = [...turn(number)].map((event) => `${JSON.stringify(event)}\n`).join("");
    bytes += writeSync(file, lines);
  }
  const end = {
    type: "result",
    subtype: "success",
    is_error: false,
    result: "<response>DONE</response>",
    total_cost_usd: 1,
  };
  writeSync(file, `${JSON.stringify(end)}\n`);
  closeSync(file);
}

/** Megabytes a second: ours from bytes to events, theirs from the whole text to parsed lines. */
export async function compareReading(path) {
  const megabytes = readFileSync(path).length / 1e6;
  const rate = (read) => {
    const begun = performance.now();
    read();
    return megabytes / ((performance.now() - begun) / 1000);
  };
  let best = { ours: 0, theirs: 0 };
  for (let round = 0; round < 4; round += 1) {
    const [theirs, ours] = [rate(() => parseAll(path)), rate(() => readEvents(path))];
    best = { ours: Math.max(best.ours, ours), theirs: Math.max(best.theirs, theirs) };
  }
  return best;
}

function parseAll(path) {
  for (const line of readFileSync(path, "utf8").split("\n")) if (line !== "") JSON.parse(line);
}

function readEvents(path) {
  const file = openSync(path, "r");
  const lines = createLineSplitter();
  const report = emptyReport();
  const buffer = Buffer.allocUnsafe(64 * 1024);
  for (let read = readSync(file, buffer); read > 0; read = readSync(file, buffer)) {
    for (const line of lines.push(Buffer.from(buffer.subarray(0, read)))) {
      for (const event of claude.parse(line)) addEvent(report, event);
    }
  }
  closeSync(file);
  if (report.resultText === undefined) throw new Error("the stream was not read to its end");
}

/** A stream of texts alone, a kilobyte a line. */
export function writeLines(path, megabytes) {
  const text = "The parser reads a line, finds src/parse.ts:12 in it, and goes on with the next one. ".repeat(
    12,
  );
  const line = `${JSON.stringify({ type: "assistant", message: { content: [{ type: "text", text: text.slice(0, 930) }] } })}\n`;
  const file = openSync(path, "w");
  for (let left = megabytes * 1e6; left > 0; left -= 100 * line.length) writeSync(file, line.repeat(100));
  writeSync(
    file,
    `${JSON.stringify({ type: "result", subtype: "success", is_error: false, result: "ok" })}\n`,
  );
  closeSync(file);
}
