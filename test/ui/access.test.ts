import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { blocked, dashboardOf, homeWith, iterationOf, RUN, STARTED, send, sendRaw } from "./kit.js";

const EVENTS = [STARTED, ...iterationOf(1), blocked("Which one?")];

describe("who gets in", () => {
  test("a link lets one browser in, once", async () => {
    const { port, link } = await dashboardOf(homeWith(EVENTS).home);
    const path = link();
    const host = `127.0.0.1:${port}`;
    const first = await send(port, path, { headers: { host } });
    expect(first.status).toBe(200);
    const [cookie = ""] = first.headers["set-cookie"] ?? [];
    expect(cookie).toMatch(/^ralph_\d+=[\w-]{32}; HttpOnly; SameSite=Strict; Path=\/;/);
    const stolen = await send(port, path, { headers: { host } });
    expect([stolen.status, stolen.headers["set-cookie"]]).toEqual([403, undefined]);
    expect((await send(port, `/enter/${"a".repeat(32)}`, { headers: { host } })).status).toBe(403);
  });

  test("a browser that looks ahead does not use the link up", async () => {
    const { port, link } = await dashboardOf(homeWith(EVENTS).home);
    const path = link();
    const headers = { host: `127.0.0.1:${port}`, "sec-purpose": "prefetch" };
    expect((await send(port, path, { headers })).status).toBe(425);
    const looks = await send(port, path, { method: "HEAD", headers: { host: headers.host } });
    expect([looks.status, looks.headers["set-cookie"]]).toEqual([425, undefined]);
    expect((await send(port, path, { headers: { host: headers.host } })).status).toBe(200);
  });

  test("the cookie of another server does not count, even of one with the same port", async () => {
    const { home } = homeWith(EVENTS);
    const [one, other] = [await dashboardOf(home), await dashboardOf(home)];
    const value = other.cookie.split("=")[1];
    for (const cookie of [other.cookie, `ralph_${one.port}=${value}`])
      expect((await one.get("/api/overview", { cookie })).status).toBe(401);
  });

  test.each(["/", "/costs", `/runs/${RUN}`, "/api/overview", `/api/runs/${RUN}`, "/api/live", "/api/costs"])(
    "without a cookie there is no %s",
    async (path) => {
      const { port } = await dashboardOf(homeWith(EVENTS).home);
      const host = `127.0.0.1:${port}`;
      for (const cookie of ["", `ralph_${port}=`, `ralph_${port}=${"x".repeat(32)}`]) {
        const { status, text } = await send(port, path, { headers: { host, cookie } });
        expect(status).toBe(401);
        expect(text).not.toContain("calm-otter");
      }
    },
  );

  test("a token lets people in who know it, where there is one", async () => {
    const { port, origin } = await dashboardOf(homeWith(EVENTS).home, { token: "a long secret of mine" });
    const enter = (token: string) =>
      send(port, "/enter", {
        method: "POST",
        headers: { host: `127.0.0.1:${port}`, origin, "content-type": "application/x-www-form-urlencoded" },
        body: `token=${encodeURIComponent(token)}`,
      });
    expect((await enter("a long secret")).headers["set-cookie"]).toBeUndefined();
    expect((await enter("a long secret of mine")).headers["set-cookie"]?.[0]).toContain("HttpOnly");
  });
});

describe("who may ask", () => {
  test.each(["evil.example", "evil.example:7171", "127.0.0.1.evil.example", "localhost.evil.example:80"])(
    "a name that leads here from elsewhere is refused: %s",
    async (host) => {
      const { port, cookie } = await dashboardOf(homeWith(EVENTS).home);
      for (const path of ["/", "/api/overview", "/enter/x", "/assets/x.js"])
        expect((await send(port, path, { headers: { host, cookie } })).status).toBeGreaterThanOrEqual(400);
      expect((await send(port, "/api/overview", { headers: { host, cookie } })).text).not.toContain(
        "calm-otter",
      );
    },
  );

  test.each([
    ["GET /api/overview HTTP/1.1", []],
    ["GET /api/overview HTTP/1.0", []],
    ["GET /api/overview HTTP/1.1", ["Host: OWN", "Host: evil.example"]],
    ["GET /api/overview HTTP/1.1", ["Host: OWN@evil.example"]],
    ["GET http://evil.example/api/overview HTTP/1.1", ["Host: OWN"]],
    ["GET http://OWN/api/overview HTTP/1.1", ["Host: evil.example"]],
    ["OPTIONS * HTTP/1.1", ["Host: OWN"]],
  ])("a request without one name of its own is refused: %s %j", async (first, hosts) => {
    const { port, cookie } = await dashboardOf(homeWith(EVENTS).home);
    const lines = [first, ...hosts, `Cookie: ${cookie}`, "Connection: close", "", ""].join("\r\n");
    const said = await sendRaw(port, lines.replaceAll("OWN", `127.0.0.1:${port}`));
    expect(said).toMatch(/^HTTP\/1\.1 403 /);
    expect(said).not.toContain("calm-otter");
  });

  test.each(["http://evil.example", "null", "http://127.0.0.1:1", "http://localhost.evil.example"])(
    "a page of %s can neither read, listen nor write, even with the cookie",
    async (origin) => {
      const { home } = homeWith(EVENTS);
      const { get, post } = await dashboardOf(home);
      for (const path of ["/api/overview", "/api/live", `/api/runs/${RUN}`])
        expect((await get(path, { origin })).status).toBe(403);
      const answer = await post(`/api/runs/${RUN}`, { action: "steer", text: "x" }, { origin });
      expect(answer.status).toBe(403);
      expect(existsSync(join(home, "runs", RUN, "steering.json"))).toBe(false);
    },
  );

  test("a page of another site cannot read without saying who it is", async () => {
    const { get } = await dashboardOf(homeWith(EVENTS).home);
    for (const site of ["cross-site", "same-site"])
      for (const path of ["/api/overview", "/%61pi/overview", "/api/live", "/icon.svg"])
        expect((await get(path, { "sec-fetch-site": site })).status).toBe(403);
    expect((await get("/api/overview", { "sec-fetch-site": "same-origin" })).status).toBe(200);
  });

  test("a write without an origin, or as a form, is refused", async () => {
    const { home } = homeWith(EVENTS);
    const { port, cookie, post } = await dashboardOf(home);
    const headers = { host: `127.0.0.1:${port}`, cookie, "content-type": "application/json" };
    const body = JSON.stringify({ action: "steer", text: "x" });
    expect((await send(port, `/api/runs/${RUN}`, { method: "POST", headers, body })).status).toBe(403);
    const forms = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"];
    for (const type of [...forms, "application/json-not", "text/plain; application/json"])
      expect((await post(`/api/runs/${RUN}`, body, { "content-type": type })).status).toBe(415);
    expect(existsSync(join(home, "runs", RUN, "steering.json"))).toBe(false);
  });

  test("a request that is too long is not read", async () => {
    const { post } = await dashboardOf(homeWith(EVENTS).home, { token: "a long secret of mine" });
    const text = "x".repeat(300_000);
    for (const path of [`/api/runs/${RUN}`, "/enter"])
      expect((await post(path, { action: "steer", text })).status).toBe(413);
  });

  test("no header makes a reading request a writing one", async () => {
    const { home } = homeWith(EVENTS);
    const { get, post } = await dashboardOf(home);
    await get(`/api/runs/${RUN}?_method=POST&action=kill`, { "x-http-method-override": "POST" });
    const wish = JSON.stringify({ action: "steer", text: "x" });
    const length = { "content-length": String(wish.length) };
    for (const method of ["PUT", "PATCH", "DELETE", "OPTIONS"])
      expect((await post(`/api/runs/${RUN}`, wish, length, method)).status).toBe(404);
    expect(existsSync(join(home, "runs", RUN, "steering.json"))).toBe(false);
  });

  test("nobody else may read an answer, and nothing inline may run", async () => {
    const { get, port } = await dashboardOf(homeWith(EVENTS).home);
    const host = `127.0.0.1:${port}`;
    const broken = [
      "no request at all\r\n\r\n",
      `GET / HTTP/1.1\r\nHost: ${host}\r\nX: ${"x".repeat(20_000)}\r\n\r\n`,
      `GET /a\\b HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
    ];
    const answers = [
      ...(await Promise.all(
        ["/", "/api/overview", "/nowhere", "/enter/x", "/icon.svg"].map((path) => get(path)),
      )),
      await get("/", { host: "evil.example" }),
      await get("/", { cookie: "" }),
      ...(await Promise.all(broken.map(async (text) => ({ headers: headersIn(await sendRaw(port, text)) })))),
    ];
    for (const { headers } of answers) {
      const policy = String(headers["content-security-policy"]);
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain("unsafe");
      expect(headers["x-content-type-options"]).toBe("nosniff");
      expect(Object.keys(headers).filter((name) => name.startsWith("access-control-"))).toEqual([]);
    }
  });

  test("there is no socket to be upgraded to", async () => {
    const { get } = await dashboardOf(homeWith(EVENTS).home);
    const upgrade = { connection: "Upgrade", upgrade: "websocket", origin: "http://evil.example" };
    await expect(get("/api/live", upgrade)).resolves.toMatchObject({ status: 403 });
  });
});

describe("what can be reached", () => {
  const outside = [
    "..",
    "..%2f..%2fetc",
    "%2e%2e",
    "....//",
    "/etc/passwd",
    "runs",
    `${RUN}%00`,
    `${RUN}/..`,
  ];

  test.each(outside)("no id leads out of the records: %s", async (id) => {
    const { get, post } = await dashboardOf(homeWith(EVENTS).home);
    for (const path of [`/api/runs/${id}`, `/api/runs/${id}/entries`, `/api/runs/${id}/diff`])
      expect([404, 400]).toContain((await get(path)).status);
    expect((await post(`/api/runs/${id}`, { action: "steer", text: "x" })).status).toBe(404);
  });

  test("only files that the records list are opened, and no links", async () => {
    const { home } = homeWith(EVENTS);
    const folder = join(home, "runs", RUN, "iterations", "001");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "prompt.md"), "the prompt");
    symlinkSync("/etc/passwd", join(folder, "planted.log"));
    const { get } = await dashboardOf(home);
    const files = `/api/runs/${RUN}/iterations/1/files`;
    expect((await get(`${files}/prompt.md`)).json).toMatchObject({
      output: "the prompt",
      files: [{ name: "prompt.md" }],
    });
    for (const name of ["planted.log", "..%2f..%2fspec.json", "%2fetc%2fpasswd", ".."])
      expect([404, 403]).toContain((await get(`${files}/${name}`)).status);
  });

  test("a folder that an agent has put a link in the place of is not looked into", async () => {
    const { home } = homeWith(EVENTS);
    const [elsewhere, iterations] = [join(home, "elsewhere"), join(home, "runs", RUN, "iterations")];
    for (const folder of [elsewhere, iterations]) mkdirSync(folder, { recursive: true });
    writeFileSync(join(elsewhere, "id_ed25519"), "not for agents");
    symlinkSync(elsewhere, join(iterations, "001"));
    const { get } = await dashboardOf(home);
    const files = `/api/runs/${RUN}/iterations/1/files`;
    expect((await get(files)).json).toMatchObject({ files: [] });
    expect((await get(`${files}/id_ed25519`)).status).toBe(404);
  });

  test("no lane leads out of the records", async () => {
    const { get } = await dashboardOf(homeWith(EVENTS).home);
    for (const lane of ["..%2f..", "__proto__", "constructor", "", "%00"])
      for (const path of ["iterations/1", "iterations/1/files", "iterations/1/files/x", "diff"])
        expect((await get(`/api/runs/${RUN}/${path}?lane=${lane}`)).status).toBe(404);
  });

  test("a token that an agent has said or written down is not shown", async () => {
    const token = `ghp_${"a1B2".repeat(9)}`;
    const split = `${token.slice(0, 9)}\u0000${token.slice(9)}`;
    const { home } = homeWith([STARTED, ...iterationOf(1, [split]), blocked(`Is ${token} right?`)]);
    const folder = join(home, "runs", RUN, "iterations", "001");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "prompt.md"), token);
    const { get } = await dashboardOf(home);
    const paths = ["", "/entries", "/iterations/1", "/iterations/1/files/prompt.md"].map(
      (path) => `/api/runs/${RUN}${path}`,
    );
    for (const path of ["/api/overview", ...paths]) {
      const { status, text } = await get(path);
      expect(status).toBe(200);
      expect(text).not.toContain(token.slice(9));
    }
  });

  test("with --read-only there is nothing to write to", async () => {
    const { home } = homeWith(EVENTS);
    const { get, post } = await dashboardOf(home, { readOnly: true });
    const before = readFileSync(join(home, "runs", RUN, "spec.json"), "utf8");
    for (const action of ["answer", "steer", "pause", "resume", "kill", "raise"])
      expect((await post(`/api/runs/${RUN}`, { action, text: "x" })).status).toBe(404);
    expect((await get("/api/overview")).json).toMatchObject({ readOnly: true });
    expect(readFileSync(join(home, "runs", RUN, "spec.json"), "utf8")).toBe(before);
  });
});

/** Of an answer as it came over the wire. */
function headersIn(answer: string): Record<string, string> {
  const [, ...lines] = (answer.split("\r\n\r\n")[0] ?? "").split("\r\n");
  return Object.fromEntries(
    lines.map((each) => each.split(/: (.*)/s)).map(([name = "", value = ""]) => [name.toLowerCase(), value]),
  );
}
