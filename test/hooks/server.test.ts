import { type IncomingHttpHeaders, request } from "node:http";
import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { askLoop } from "../../src/commands/hook.js";
import { MAX_INPUT_BYTES } from "../../src/hooks/hook.cjs";
import { type Answers, type HookServer, startHookServer } from "../../src/hooks/server.js";

const servers: HookServer[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function listening(answers: Answers = {}, requestMs?: number): Promise<string> {
  const all: Answers = {
    stop: async ({ sent }) => ({ heard: sent }),
    context: async () => undefined,
    ...answers,
  };
  const server = (await startHookServer("secret", all, requestMs)) as HookServer;
  servers.push(server);
  return server.url;
}

interface Sent {
  method?: string;
  headers?: IncomingHttpHeaders;
  body?: string | Buffer;
}

const BEARER = { authorization: "Bearer secret" };

function send(url: string, { method = "POST", headers = BEARER, body = "{}" }: Sent = {}) {
  return new Promise<{ status: number | undefined; body: unknown }>((resolve, reject) => {
    const asked = request(url, { method, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => (text += piece));
      response.on("end", () => resolve({ status: response.statusCode, body: JSON.parse(text) }));
    });
    asked.on("error", reject);
    asked.end(body);
  });
}

describe("the loop's hook server", () => {
  it("listens on this machine alone, and answers who knows the token", async () => {
    const url = await listening();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
    const sent = await send(`${url}stop`, { body: '{"session_id":"s"}' });
    expect(sent).toEqual({ status: 200, body: { heard: { session_id: "s" } } });
    expect(await send(`${url}context`)).toEqual({ status: 200, body: {} });
  });

  it.each([
    ["later", () => Promise.reject(new Error("git is gone"))],
    [
      "at once",
      () => {
        throw new Error("git is gone");
      },
    ],
  ])("lets the agent go on when an answer fails %s", async (_, stop) => {
    expect(await send(`${await listening({ stop })}stop`)).toEqual({ status: 200, body: {} });
  });

  it.each<[string, Sent, number]>([
    ["no token", { headers: {} }, 401],
    ["a wrong token", { headers: { authorization: "Bearer secres" } }, 401],
    ["the token in another scheme", { headers: { authorization: "Basic secret" } }, 401],
    ["a page of a browser", { headers: { ...BEARER, origin: "http://127.0.0.1" } }, 403],
    ["a page that asks first", { method: "OPTIONS", headers: { origin: "https://example.invalid" } }, 403],
    ["another host", { headers: { ...BEARER, host: "example.invalid" } }, 403],
    ["another method", { method: "GET" }, 405],
    ["no JSON", { body: "{oops" }, 400],
    ["too much", { headers: { ...BEARER, "content-length": String(MAX_INPUT_BYTES + 1) }, body: "" }, 413],
  ])("refuses %s", async (_, sent, status) => {
    expect(await send(`${await listening()}stop`, sent)).toEqual({ status, body: {} });
  });

  it.each([
    [
      "a body",
      "POST /stop HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer secret\r\nContent-Length: 9\r\n\r\n{",
    ],
  ])("sends away who is slow with %s", async (_, text) => {
    const url = new URL(await listening({}, 100));
    const socket = connect(Number(url.port), url.hostname);
    const answer = new Promise<string>((resolve) => {
      let heard = "";
      socket.setEncoding("utf8").on("data", (piece: string) => (heard += piece));
      socket.once("close", () => resolve(heard));
    });
    socket.write(text.replace("HOST", url.host));
    expect(await answer).toContain("408");
  });

  it.each(["", "nope", "constructor", "stop/", "stop?now"])("has nothing at /%s", async (name) => {
    expect(await send(`${await listening()}${name}`)).toMatchObject({ status: 404 });
  });

  it("is gone when it is closed, with everybody who is connected", async () => {
    const url = new URL(await listening());
    const socket = connect(Number(url.port), url.hostname);
    await new Promise((resolve) => socket.once("connect", resolve));
    const closed = new Promise((resolve) => socket.once("close", resolve));
    servers.splice(0)[0]?.close();
    await closed;
    await expect(send(`${url}stop`)).rejects.toThrow("ECONNREFUSED");
  });
});

describe("asking the loop", () => {
  const env = { RALPH_HOOK_TOKEN: "secret" };

  it("hands over what was sent and brings back the answer", async () => {
    const url = await listening();
    expect(await askLoop(`${url}stop`, { a: 1 }, env)).toEqual({ heard: { a: 1 } });
    expect(await askLoop(`${url}context`, {}, env)).toBeUndefined();
  });
});
