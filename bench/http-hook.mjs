// How long the loop takes to answer a hook of its agent, and to judge what one asks.
import { randomUUID } from "node:crypto";
import { loopAnswers } from "../dist/hooks/loop-answers.js";
import { guardOf } from "../dist/hooks/pre-tool-use.js";
import { startHookServer } from "../dist/hooks/server.js";

const COMMAND = "cd src && npm run build && npm test -- --run 2>&1 | tail -n 20";
const CALL = { tool_name: "Bash", tool_input: { command: COMMAND } };

/** Median of many calls of one hook, one after the other, in milliseconds. */
export async function httpHook(name, transcript, calls = 300) {
  const token = randomUUID();
  const guard = guardOf(process.cwd(), process.env);
  const { answers, beginCall } = loopAnswers({ keepsStories: false, guard });
  beginCall(200_000);
  const server = await startHookServer(token, answers);
  const body = JSON.stringify({ session_id: "bench", transcript_path: transcript, ...CALL });
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const took = [];
  for (let call = 0; call < calls; call += 1) {
    const begun = performance.now();
    const response = await fetch(`${server.url}${name}`, { method: "POST", headers, body });
    await response.json();
    took.push(performance.now() - begun);
  }
  server.close();
  return took.toSorted((a, b) => a - b)[Math.floor(calls / 2)];
}

/** Median of decisions of the guard, without any hook around them. */
export function decision(calls = 300) {
  const guard = guardOf(process.cwd(), process.env);
  const took = [];
  for (let call = 0; call < calls; call += 1) {
    const begun = performance.now();
    guard({ cwd: process.cwd(), sent: CALL });
    took.push(performance.now() - begun);
  }
  return took.toSorted((a, b) => a - b)[Math.floor(calls / 2)];
}
