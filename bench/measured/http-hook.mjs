// How long the loop takes to answer a hook of its agent.
import { randomUUID } from "node:crypto";
import { guardOf } from "../../dist/hooks/guard-call.js";
import { loopAnswers, startHookServer } from "../../dist/hooks/server.js";

/** Median of many calls, one after the other, in milliseconds. */
export async function httpHook(transcript, name = "context", calls = 300) {
  const token = randomUUID();
  const { answers, beginCall } = loopAnswers({
    keepsStories: false,
    guard: guardOf(process.cwd(), process.env),
  });
  beginCall(200_000);
  const server = await startHookServer(token, answers);
  const body = JSON.stringify({
    session_id: "bench",
    transcript_path: transcript,
    tool_name: "Bash",
    tool_input: { command: "npm run build && npm test 2>&1 | tail -n 20" },
  });
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
