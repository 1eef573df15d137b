/**
 * The entry. It is CommonJS because agents call `ralph hook context` at every step, and the loader of ES
 * modules alone would take longer than all of that.
 */
const [first, name, ...rest] = process.argv.slice(2);
if (first === "hook" && name === "context" && rest.length === 0) void answerContext();
else if (first === "hook" && name === "pre-tool-use" && rest.length === 0) void answerGuard();
else void import("./main.js");

async function answerGuard(): Promise<void> {
  const { answerHook }: typeof import("./hooks/answer.cjs") = require("./hooks/answer.cjs");
  const { preToolUse } = await import("./hooks/pre-tool-use.js");
  return answerHook("pre-tool-use", preToolUse);
}

function answerContext(): Promise<void> {
  const { answerHook }: typeof import("./hooks/answer.cjs") = require("./hooks/answer.cjs");
  const { context }: typeof import("./hooks/context.cjs") = require("./hooks/context.cjs");
  return answerHook("context", context);
}
