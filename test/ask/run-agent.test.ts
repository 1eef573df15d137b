import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createReader, runAgent } from "../../src/ask/run-agent.js";
import type { AgentEvent } from "../../src/events.js";
import { createProject, eventually, isAlive } from "../kit.js";
import { setupFor, UNLIMITED } from "./setup.js";

const REQUEST = { iteration: 1, attempt: 1, prompt: "x", remaining: UNLIMITED };

test("an agent whose records cannot be written is not left running", async () => {
  const p = createProject();
  p.program("sleeper", "#!/bin/sh\nsleep 600\n");
  mkdirSync(join(p.root, "prompt.md"));
  const asked = runAgent(setupFor(p, "sleeper"), REQUEST);
  await asked.next();
  await expect(asked.next()).rejects.toThrow("EISDIR");
  // The bracket keeps the search from finding itself.
  expect(p.sh(`pgrep -f ${join(p.bin, "[s]leeper")} || true`)).toBe("");
});

test("an agent is ended when nobody listens to it any more", async () => {
  const p = createProject();
  p.program("talker", "#!/bin/sh\necho $$ > pid\necho words\nsleep 600\n");
  const asked = runAgent(setupFor(p, "talker"), REQUEST);
  for await (const { type } of asked) if (type === "agent.event") break;
  await eventually(() => !isAlive(Number(p.read("pid"))));
});

const SECRET = "a1b2c3d4-value-of-a-secret";
const piece = (text: string): AgentEvent => ({ type: "text", text, delta: true });

/** What is told of events that come one by line. */
function joined(events: AgentEvent[]): AgentEvent[] {
  const reader = createReader((line) => [JSON.parse(line)]);
  const chunks = events.map((event) => Buffer.from(`${JSON.stringify(event)}\n`));
  return [...chunks.flatMap((data) => reader.push({ from: "stdout", data })), ...reader.end()];
}

test("pieces of a text are told as whole lines, and the rest before what comes next", () => {
  const next: AgentEvent = { type: "progress", message: "x" };
  expect(joined([piece("one"), piece(" line\ntwo"), piece(" li"), next, piece("nes")])).toEqual([
    piece("one line\n"),
    piece("two li"),
    next,
    piece("nes"),
  ]);
});

test("a line without an end is not kept for ever, and is cut between words", () => {
  const events = joined(Array.from({ length: 3000 }, () => piece(`word-${"x".repeat(60)} `)));
  const texts = events.map((event) => (event.type === "text" ? event.text : ""));
  expect(texts.length).toBeGreaterThan(1);
  expect(texts.every((text) => text.startsWith("word-") && text.endsWith(" "))).toBe(true);
  expect(texts.join("")).toHaveLength(3000 * 66);
});

test("a secret that comes in two pieces is neither on the screen nor in the records", async () => {
  const p = createProject();
  const message = (content: string) => ({ type: "message", role: "assistant", content, delta: true });
  const lines = [
    message(`The key is ${SECRET.slice(0, 9)}`),
    message(`${SECRET.slice(9)}!\n<respon`),
    message("se>DONE</response>"),
    { type: "result", status: "success" },
  ];
  const stream = lines.map((line) => JSON.stringify(line)).join("\n");
  p.program("gemini", `#!/bin/sh\ncat > /dev/null\ncat <<'END'\n${stream}\nEND\n`);
  p.env["API_KEY"] = SECRET;
  const shown = await p.ralph("run", "-p", "x", "--agent", "gemini");
  expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining("The key is [redacted]!\n")]);
  const { stdout, events, finished } = await p.ralph("run", "-p", "x", "--agent", "gemini", "--json");
  expect(
    events.flatMap((event) =>
      event.type === "agent.event" && event.event.type === "text" ? [event.event.text] : [],
    ),
  ).toEqual(["The key is [redacted]!\n", "<response>DONE</response>"]);
  expect(
    readFileSync(join(p.env["RALPH_HOME"] as string, "runs", finished.run, "journal.ndjson"), "utf8"),
  ).toBe(stdout);
});
