#!/usr/bin/env node
// A fake agent that speaks Claude Code's stream. What it does is in `<name>.plan.json` beside it: one step
// per call, the last one again and again. It writes down each prompt and its arguments.
// CommonJS, because it is started thousands of times and its loader is the quicker one.
const { existsSync, readFileSync, writeFileSync } = require("node:fs");
const { basename, join } = require("node:path");

const self = process.argv[1];
const name = basename(self);
const beside = (suffix) => join(self, "..", `${name}.${suffix}`);
const args = process.argv.slice(2);
if (args.includes("--help")) {
  process.stdout.write(existsSync(beside("help")) ? readFileSync(beside("help"), "utf8") : "usage\n");
  process.exit(0);
}
const prompt = readFileSync(0, "utf8");
const plan = JSON.parse(readFileSync(beside("plan.json"), "utf8"));
const isText = args.includes("text") && args.includes("--output-format");
if (isText && plan.commit !== undefined) {
  process.stdout.write(`${plan.commit}\n`);
  process.exit(0);
}
const call = existsSync(beside("calls")) ? Number(readFileSync(beside("calls"), "utf8")) + 1 : 1;
writeFileSync(beside("calls"), String(call));
writeFileSync(beside(`prompt.${call}`), prompt);
writeFileSync(beside(`args.${call}`), JSON.stringify(args));
const step = plan.steps[Math.min(call, plan.steps.length) - 1];

const say = (event) => process.stdout.write(`${typeof event === "string" ? event : JSON.stringify(event)}\n`);
const assistant = (content) =>
  say({ type: "assistant", message: { id: `m${call}`, role: "assistant", content: [content] } });

if (!isText && !step.onlyRaw) say({ type: "system", subtype: "init", session_id: `s${call}` });
if (step.bash !== undefined) {
  assistant({ type: "tool_use", id: "t1", name: "Bash", input: { command: step.bash } });
  const { spawnSync } = require("node:child_process");
  const { stdout, stderr, status } = spawnSync("bash", ["-c", step.bash], { encoding: "utf8" });
  const result = { type: "tool_result", tool_use_id: "t1", content: stdout + stderr, is_error: status !== 0 };
  say({ type: "user", message: { role: "user", content: [result] } });
}
for (const line of step.raw ?? []) say(line);
if (step.stderr !== undefined) process.stderr.write(step.stderr);
const text = step.text ?? "";
setTimeout(finish, step.sleepMs ?? 0);

function finish() {
  process.exitCode = step.exit ?? 0;
  if (isText) process.stdout.write(`${text}\n`);
  else if (!step.onlyRaw) {
    if (text !== "") assistant({ type: "text", text });
    const usage = {
      input_tokens: 100,
      output_tokens: 10,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
    };
    const result = { type: "result", subtype: "success", is_error: step.isError ?? false, result: text };
    say({ ...result, total_cost_usd: step.cost ?? 0.01, usage: step.usage ?? usage });
  }
}
