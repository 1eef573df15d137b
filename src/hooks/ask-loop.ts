import { request } from "node:http";
import { type HookAnswer, isObject, TOKEN_VARIABLE } from "./hook.cjs";

const MAX_ANSWER_BYTES = 1024 * 1024;

/** Hands what an agent sent over to the loop that started it. */
export function askLoop(url: string, sent: unknown, env: NodeJS.ProcessEnv): Promise<HookAnswer> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${env[TOKEN_VARIABLE] ?? ""}`,
      "content-type": "application/json",
    };
    const asked = request(url, { method: "POST", headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => {
        text += piece;
        if (text.length > MAX_ANSWER_BYTES) asked.destroy(new Error("its answer is too long"));
      });
      response.on("end", () => {
        if (response.statusCode === 200) resolve(answerIn(text));
        else reject(new Error(`it answered ${response.statusCode}`));
      });
    });
    asked.on("error", reject);
    asked.end(JSON.stringify(sent));
  });
}

/** An empty object is nothing to say. */
function answerIn(text: string): HookAnswer {
  const answer: unknown = JSON.parse(text);
  return isObject(answer) && Object.keys(answer).length > 0 ? answer : undefined;
}
