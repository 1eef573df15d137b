import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { capture } from "../../process/run.js";
import { CART } from "./project.js";

/**
 * The agent of `ralph demo`: a program of its own that speaks Claude Code's stream. No model is behind it.
 * Like any agent it knows only its prompt, which says which iteration this is.
 */

const PAUSE_MS = 350;

const prompt = readFileSync(0, "utf8");
const iteration = Number(/^Iteration (\d+) of/.exec(prompt)?.[1] ?? 1);
let calls = 0;

const say = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

const saySomething = (content: object): void =>
  say({ type: "assistant", message: { id: `m${calls}`, role: "assistant", content: [content] } });

async function speak(text: string): Promise<void> {
  await wait(PAUSE_MS);
  saySomething({ type: "text", text });
}

async function use(name: string, input: object, tool: () => Promise<string> | string): Promise<void> {
  await wait(PAUSE_MS);
  calls += 1;
  const id = `t${calls}`;
  saySomething({ type: "tool_use", id, name, input });
  const result = { type: "tool_result", tool_use_id: id, content: await tool() };
  say({ type: "user", message: { role: "user", content: [result] } });
}

const read = (): Promise<void> =>
  use("Read", { file_path: CART.path }, () => readFileSync(CART.path, "utf8"));

const edit = ({ wrong, right }: { wrong: string; right: string }): Promise<void> =>
  use("Edit", { file_path: CART.path, old_string: wrong, new_string: right }, () => {
    writeFileSync(CART.path, readFileSync(CART.path, "utf8").replace(wrong, right));
    return `${CART.path} was updated.`;
  });

const test = (): Promise<void> =>
  use("Bash", { command: "node test.js" }, async () => {
    const command = { file: process.execPath, args: ["test.js"], cwd: ".", env: process.env };
    return (await capture(command)).stdout;
  });

/** What it does in each iteration; it returns its final message. */
const PARTS = [
  async (): Promise<string> => {
    await read();
    await edit(CART.sum);
    return "Quantities count now. I have not looked at the discount yet.";
  },
  async (): Promise<string> => {
    await read();
    return "The code looks right to me, so I am done.\n<response>DONE</response>";
  },
  async (): Promise<string> => {
    await speak("The check says that the discount is wrong. It is given in percent.");
    await edit(CART.discount);
    await test();
    return "Both tests pass.\n<response>DONE</response>";
  },
];

say({ type: "system", subtype: "init", session_id: `demo-${iteration}` });
const part = PARTS[Math.min(iteration, PARTS.length) - 1] as () => Promise<string>;
const result = await part();
await speak(result);
say({
  type: "result",
  subtype: "success",
  is_error: false,
  result,
  total_cost_usd: 0.02 + 0.01 * calls,
  usage: { input_tokens: 900 + 600 * calls, output_tokens: 60 + 40 * calls },
});
