import { expect, it, onTestFinished } from "vitest";
import type { Turn } from "./model/dialect.js";
import { type Model, startModel } from "./model/model.js";

const SHELLS: [path: string, tools: unknown, expected: string][] = [
  ["/v1/messages", { tools: [{ name: "Bash" }] }, '"name":"Bash","input":{"command":"ls"'],
  ["/v1/responses", { tools: [{ name: "exec_command" }] }, '"arguments":"{\\"cmd\\":\\"ls\\"}"'],
  [
    "/v1/chat/completions",
    { tools: [{ function: { name: "bash" } }] },
    '"arguments":"{\\"command\\":\\"ls\\"',
  ],
  [
    "/v1beta/models/m:generateContent",
    { tools: [{ functionDeclarations: [{ name: "run_shell_command" }] }] },
    '"args":{"command":"ls"',
  ],
];

async function started(...turns: Turn[]): Promise<Model> {
  const model = await startModel(turns);
  onTestFinished(() => model.close());
  return model;
}

function ask({ url }: Model, path: string, body: unknown = {}): Promise<Response> {
  return fetch(`${url}${path}`, { method: "POST", body: JSON.stringify(body) });
}

it.each(SHELLS)("the scripted model calls the shell in the words of %s", async (path, tools, expected) => {
  const model = await started({ bash: "ls" }, { say: "That is all." });
  expect(await (await ask(model, path, tools)).text()).toContain(expected);
  expect(await (await ask(model, path, tools)).text()).toContain("That is all.");
  expect({ asked: model.asked.length, strays: model.strays }).toEqual({ asked: 2, strays: [] });
});

it.each(SHELLS)(
  "the scripted model does not spend a turn on a question without tools at %s",
  async (path) => {
    const model = await started({ fail: { status: 500, type: "x", message: "no" } });
    expect(await ask(model, path, { tools: [] })).toMatchObject({ status: 200 });
    expect(model.asked).toEqual([]);
  },
);

it("the scripted model refuses, breaks off, and notes what is no question for a model", async () => {
  const no = { status: 429, type: "rate_limit_error", message: "no", headers: { "retry-after": "9" } };
  const model = await started({ fail: no }, { say: "one two", cut: true });
  const body = { stream: true, tools: [{ name: "Bash" }] };
  const refused = await ask(model, "/v1/messages", body);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "9"]);
  await expect((await ask(model, "/v1/messages", body)).text()).rejects.toThrow("terminated");
  expect(await ask(model, "/v1/traces")).toMatchObject({ status: 404 });
  expect(model.strays).toEqual(["POST /v1/traces"]);
});
