import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { atEnd, createProject, eventually, type Project } from "../kit.js";
import { send } from "./kit.js";

const TOKEN = "a long secret of mine\n";

/** A dashboard in a process of its own, what it says, and the link in that. */
async function started(p: Project, args: string[] = [], env: NodeJS.ProcessEnv = {}) {
  const ui = p.start(["ui", "--port", "0", ...args], { env });
  let said = "";
  const says = (words: string): Promise<void> =>
    ui.until((text) => {
      said = text;
      return text.includes(words);
    });
  await says("Ctrl+C ends it\n");
  const link = new URL(/^http:\S+$/m.exec(said)?.[0] ?? "");
  const end = async (signal: NodeJS.Signals) => {
    ui.child.kill(signal);
    return (await ui.result).code;
  };
  return { link, says, end, said: () => said };
}

async function cookieOf({ port, pathname }: URL): Promise<string> {
  const { headers } = await send(Number(port), pathname, { headers: { host: `127.0.0.1:${port}` } });
  return String(headers["set-cookie"]?.[0]).split(";")[0] as string;
}

describe("ralph ui begins", () => {
  test("not where another program listens, and says so", async () => {
    const p = createProject();
    const other = createServer().listen(0, "127.0.0.1");
    atEnd(() => other.close());
    await eventually(() => other.listening);
    const { port } = other.address() as { port: number };
    const { code, stderr } = await p.ralph("ui", "--port", String(port), "--no-open");
    expect([code, stderr]).toEqual([
      2,
      `ralph: error: port ${port} of 127.0.0.1 is taken (another ralph ui may have it; --port 0 takes a free one)\n`,
    ]);
  });

  test("over ssh with the line that makes a tunnel, and opens no browser", async () => {
    const p = createProject();
    p.program("xdg-open", `#!/bin/sh\ntouch '${join(p.dir, "opened")}'\n`);
    const env = { SSH_CONNECTION: "192.0.2.1 50000 192.0.2.2 22", DISPLAY: ":0" };
    const { link, says, end } = await started(p, [], env);
    await says(`from your own machine: ssh -L ${link.port}:127.0.0.1:${link.port} `);
    expect(await end("SIGINT")).toBe(0);
    expect(p.exists("opened")).toBe(false);
  });

  test("without a browser it says that the link is to be opened, and where others can read the token it says so", async () => {
    const p = createProject();
    p.write("token", TOKEN);
    const { says, said, end } = await started(p, ["--token-file", "token"], {
      DISPLAY: "",
      WAYLAND_DISPLAY: "",
      SSH_CONNECTION: "",
    });
    await says("no browser was found here: open the link yourself");
    expect(said()).toContain("others on this machine can read token: chmod 600 token");
    expect(await end("SIGTERM")).toBe(0);
  });

  test("with the runs of this machine where the fleet cannot be reached", async () => {
    const p = createProject();
    const { link, says, end } = await started(p, ["--no-open"], { RALPH_FLEET: "redis://127.0.0.1:1" });
    await says("the runs of the fleet are not shown");
    const headers = { host: link.host, cookie: await cookieOf(link) };
    expect((await send(Number(link.port), "/api/overview", { headers })).status).toBe(200);
    expect(await end("SIGINT")).toBe(0);
  });
});

test("each browser gets a link of its own: a used one is followed by the next", async () => {
  const { link, says, said, end } = await started(createProject(), ["--no-open"]);
  await cookieOf(link);
  await says("this link is for another one: ");
  const [, next = ""] = /another one: (\S+)/.exec(said()) ?? [];
  expect(await cookieOf(new URL(next))).toMatch(/^ralph_\d+=/);
  expect(await end("SIGINT")).toBe(0);
});

test("Ctrl+C ends the dashboard while browsers listen, and no run", async () => {
  const p = createProject();
  p.agent([
    {
      bash: "touch begun; while ! test -f go-on; do sleep 0.05; done; touch done",
      text: "<response>DONE</response>",
    },
  ]);
  const run = p.start(["run", "-p", "x", "-n", "1", "--no-sandbox", "--quiet"]);
  await eventually(() => p.exists("begun"));
  const { link, end } = await started(p, ["--no-open"]);
  const headers = { host: link.host, cookie: await cookieOf(link) };
  const [id = ""] = readdirSync(join(p.env["RALPH_HOME"] as string, "runs"));
  const listening = get({
    ...{ host: "127.0.0.1", port: link.port, headers },
    path: `/api/live?watch=${id}:0`,
  });
  listening.on("error", () => {});
  const [answer] = (await once(listening, "response")) as [IncomingMessage];
  await once(answer, "data");
  expect(await end("SIGINT")).toBe(0);
  writeFileSync(join(p.dir, "go-on"), "");
  expect((await run.result).code).toBe(0);
  expect(readFileSync(join(p.dir, "done"), "utf8")).toBe("");
});
