import { existsSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { LoopEvent, RunFinished } from "../../src/events.js";
import { initialState } from "../../src/records/run-state.js";
import { type Notice, noticeOf } from "../../src/views/notify.js";
import { type Project, projectWith } from "../kit.js";
import { runFinished } from "./events.js";

const DONE = { text: "<response>DONE</response>" };
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.closeAllConnections();
});

interface Post {
  request: IncomingMessage;
  body: string;
}

/** Answers every request with the status. */
async function webhook(status: number): Promise<{ address: string; posts: Post[] }> {
  const posts: Post[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (data) => {
      body += String(data);
    });
    request.on("end", () => {
      posts.push({ request, body });
      response.writeHead(status, { location: "/elsewhere" }).end("ok");
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}/hook/KEY`, posts };
}

function project(notify: object, ...steps: object[]): Project {
  return projectWith({ notify }, ...(steps.length === 0 ? [DONE] : steps));
}

function note(p: Project): unknown {
  return JSON.parse(p.read("note.json"));
}

describe("notifications", () => {
  it("reach a webhook, a command and the desktop with the same few facts, without secrets", async () => {
    const { address, posts } = await webhook(204);
    const p = project({ webhook: `http://me:pass@${address}`, command: "cat > note.json", desktop: true });
    p.program("notify-send", '#!/bin/sh\nprintf "%s|" "$@" > "$HOME/shown"\n');
    p.agent([{ text: "no" }]);
    const args = ["loop", "a", "-n", "1", "--check", "exit 1 # hunter2hunter2", "--json"];
    const { code, finished } = await p.ralphWith({ env: { MY_TOKEN: "hunter2hunter2" } }, ...args);
    const expected = {
      run: finished.run,
      name: null,
      event: "failed",
      reason: "max_iterations",
      iterations: 1,
      costUsd: 0.01,
      message: "1 of 1 checks failed: exit 1 # [redacted] (exit code 1)",
    };
    expect({ code, note: note(p), posts: posts.map(({ body }) => JSON.parse(body) as unknown) }).toEqual({
      code: 1,
      note: expected,
      posts: [expected],
    });
    expect(posts[0]?.request).toMatchObject({
      method: "POST",
      url: "/hook/KEY",
      headers: { "content-type": "application/json", authorization: "Basic bWU6cGFzcw==" },
    });
    expect(readFileSync(join(p.home, "shown"), "utf8")).toBe(
      "--app-name=ralph|--|ralph: failed|1 of 1 checks failed: exit 1 # [redacted] (exit code 1)|",
    );
  });

  it("that fail are warnings which keep the address to themselves, and the outcome stands", async () => {
    const { address } = await webhook(302);
    const p = project({
      webhook: `http://${address}`,
      command: "echo no such user >&2; exit 9",
      desktop: true,
    });
    p.program("notify-send", "#!/bin/sh\necho no bus >&2\nexit 1\n");
    const { code, stdout, stderr } = await p.ralph("run", "-p", "<response>", "--check", "true", "--json");
    expect(code).toBe(0);
    expect(stdout).not.toContain("notify");
    expect(
      stderr
        .split("\n")
        .filter((line) => line.includes("notify"))
        .sort(),
    ).toEqual([
      "ralph: warning: notify.command failed: exit 9: no such user",
      "ralph: warning: notify.desktop failed: exit 1: no bus",
      "ralph: warning: notify.webhook failed: the server answered 302",
    ]);
    expect(stderr).not.toContain("KEY");
  });

  it("are only sent for what was asked for", async () => {
    const p = project({ command: "cat > note.json", on: ["failed", "blocked", "waiting"] });
    expect((await p.ralph("run", "-p", "a")).code).toBe(0);
    expect(existsSync(join(p.dir, "note.json"))).toBe(false);
  });

  it("are sent by a run that goes on, as the settings are then, from the project of a worktree", async () => {
    const p = project({}, { text: "no" }, DONE);
    const { finished } = await p.ralph("run", "-p", "a", "-n", "1", "--worktree", "w", "--json");
    p.settings({ agent: { command: "claude" }, notify: { command: "cat > note.json" } });
    expect((await p.ralph("resume", finished.run, "-n", "2")).code).toBe(0);
    expect(note(p)).toMatchObject({ run: finished.run, event: "finished", iterations: 2 });
    expect(readFileSync(join(p.runFolder(), "spec.json"), "utf8")).not.toContain("note.json");
  });
});

function ended(more: Partial<RunFinished>): LoopEvent {
  return runFinished({ iterations: 2, costUsd: 0.5, ...more });
}

const FAILED: Notice = {
  run: "r1",
  name: null,
  event: "failed",
  reason: "max_iterations",
  iterations: 2,
  costUsd: 0.5,
  message: "Stopped: the maximum number of iterations was reached",
};

describe("a notice", () => {
  it.each<[string, Partial<RunFinished>, Partial<Notice>]>([
    [
      "success is finished",
      { success: true, reason: "completed", exitCode: 0 },
      { event: "finished", reason: "completed", message: "Completed" },
    ],
    ["a limit is a failure", {}, {}],
    [
      "a worker that went round as often as it was told to is finished",
      { exitCode: 0 },
      { event: "finished", message: "Stopped after 2 of 2 iterations; nothing was verified" },
    ],
    [
      "a question is blocked, and told",
      { reason: "blocked", message: "the agent asks: Postgres or SQLite?" },
      { event: "blocked", reason: "blocked", message: "the agent asks: Postgres or SQLite?" },
    ],
    ["its message is one harmless line", { message: "a\n\u001b[31mb\u001b[0m\u0007" }, { message: "a b" }],
    ["a cost that nobody knows is null", { costUsd: null }, { costUsd: null }],
  ])("%s", (_, event, expected) => {
    expect(noticeOf(ended(event), initialState("r1"), null)).toEqual({ ...FAILED, ...expected });
  });
});
