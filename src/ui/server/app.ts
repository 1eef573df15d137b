import { type Context, Hono, type MiddlewareHandler } from "hono";
import { stream } from "hono/streaming";
import type { CostKey } from "../../costs.js";
import { COST_KEYS } from "../../costs.js";
import { manifest } from "../../package-folder.cjs";
import { type RunFolder, runFolder } from "../../records/runs.js";
import type { Overview } from "../api.js";
import { type Door, isForeign, refusalOf } from "./access.js";
import { fulfil, Wish } from "./actions.js";
import type { Assets } from "./assets.js";
import { costsSince } from "./costs.js";
import { diffPage } from "./diffs.js";
import { entryPage } from "./journal.js";
import { listOf } from "./lists.js";
import { cursorsIn, type Listener, tellLive } from "./live.js";
import type { RunOverview } from "./overview.js";
import { recordPage } from "./record-files.js";
import { iterationDetail, runPage } from "./run-page.js";
import { tellScreens } from "./terminal.js";
import { shownJson } from "./text.js";

export interface Setup {
  home: string;
  hosts: Set<string>;
  door: Door;
  readOnly: boolean;
  assets: Assets;
  overview: RunOverview;
}

/** Only what comes with ralph may run, load or be shown; nothing is inline, and nobody may put it into a frame. */
const POLICY = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'"],
  ...["manifest-src 'self'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'"],
  "require-trusted-types-for 'script'",
].join("; ");

const HEADERS = {
  "Content-Security-Policy": POLICY,
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
};

export function dashboard(setup: Setup): Hono {
  const app = new Hono();
  app.use(async (c, next) => {
    await next();
    for (const [name, value] of Object.entries(HEADERS)) c.res.headers.set(name, value);
    if (!c.res.headers.has("Cache-Control")) c.res.headers.set("Cache-Control", "no-store");
  });
  app.use(guard(setup));
  entrance(app, setup);
  pages(app, setup);
  data(app, setup);
  live(app, setup);
  // Without them there is no way to write.
  if (!setup.readOnly) writes(app, setup);
  app.notFound((c) => c.json({ error: "there is no such page" }, 404));
  app.onError((error, c) => c.json({ error: error.message }, 500));
  return app;
}

/** Paths that ask for a cookie first: everything but the entrance and what comes with ralph. */
const OPEN = /^\/(?:enter(?:\/|$)|assets\/|icon|manifest)/;

function guard({ hosts, door, assets }: Setup): MiddlewareHandler {
  return async (c, next) => {
    const { req } = c;
    const asking = {
      method: req.method,
      host: req.header("host"),
      origin: req.header("origin"),
      site: req.header("sec-fetch-site"),
    };
    const refusal = refusalOf(asking, hosts);
    if (refusal !== undefined) return c.text(`${refusal}\n`, 403);
    const isData = req.path.startsWith("/api/");
    if (isData && isForeign(asking)) return c.text("a page of another site may not ask\n", 403);
    if (!OPEN.test(req.path) && !door.isIn(req.header("cookie")))
      return isData
        ? c.json({ error: "this browser was not let in" }, 401)
        : c.html(assets.page("locked"), 401);
    await next();
  };
}

/** A page of its own leads on: a browser sends no strict cookie to where another site's link has led it. */
function entrance(app: Hono, { door, assets }: Setup): void {
  app.get("/enter/:secret", (c) => {
    // A browser that only looks ahead must not use the link up.
    if (/prefetch|preview/i.test(c.req.header("sec-purpose") ?? c.req.header("purpose") ?? ""))
      return c.text("", 425);
    const cookie = door.enter(c.req.param("secret"));
    if (cookie === undefined) return c.html(assets.page("used"), 403);
    c.header("Set-Cookie", cookie);
    return c.html(assets.page("welcome"));
  });
  if (!door.takesToken) return;
  app.get("/enter", (c) => c.html(assets.page("token")));
  app.post("/enter", async (c) => {
    const { token } = await c.req.parseBody();
    const cookie = door.enterWith(typeof token === "string" ? token.trim() : "");
    if (cookie === undefined) return c.html(assets.page("wrong"), 403);
    c.header("Set-Cookie", cookie);
    return c.html(assets.page("welcome"));
  });
}

function pages(app: Hono, { assets }: Setup): void {
  for (const path of ["/", "/costs", "/runs/:id", "/runs/:id/:tab", "/runs/:id/:tab/:part"])
    app.get(path, (c) => c.html(assets.page("app")));
  app.get("/*", async (c, next) => {
    const file = assets.file(c.req.path);
    if (file === undefined) return next();
    c.header("Cache-Control", file.isHashed ? "public, max-age=31536000, immutable" : "no-cache");
    c.header("Content-Type", file.type);
    if (file.gzip !== undefined && /\bgzip\b/.test(c.req.header("accept-encoding") ?? "")) {
      c.header("Content-Encoding", "gzip");
      return c.body(new Uint8Array(file.gzip));
    }
    return c.body(new Uint8Array(file.body));
  });
}

const json = (value: unknown, status = 200): Response =>
  new Response(shownJson(value), { status, headers: { "Content-Type": "application/json; charset=utf-8" } });

function number(text: string | undefined, otherwise: number): number {
  const value = Number(text ?? "");
  return text === undefined || !Number.isSafeInteger(value) ? otherwise : value;
}

/** No id leads out of the folder of the runs. */
const ID = /^\w[\w-]{0,80}$/;

const PAGE_LINES = 400;

function data(app: Hono, { home, overview, readOnly }: Setup): void {
  const { version } = manifest();
  app.get("/api/overview", (c) => {
    const { q: text = "", project = "", most } = c.req.query();
    const list = listOf(overview.rows(), { text, project, most: Math.min(number(most, 50), 1000) });
    return json({ version, readOnly, ...list } satisfies Overview);
  });
  app.get("/api/costs", (c) => {
    const { since, by } = c.req.query();
    const key = (COST_KEYS as readonly string[]).includes(by ?? "") ? (by as CostKey) : "day";
    return json(costsSince(home, Math.min(Math.max(number(since, 30), 1), 3650), key));
  });
  const ofRun = (
    path: string,
    answer: (run: RunFolder, part: (name: string) => string, query: Record<string, string>) => unknown,
  ) =>
    app.get(`/api/runs/:id${path}`, async (c) => {
      const run = runIn(home, c.req.param("id") ?? "");
      const { id: _, ...parts } = c.req.param() as Record<string, string>;
      const found = run && (await answer(run, (name) => parts[name] ?? "", c.req.query()));
      return found === undefined ? json({ error: "there is no such record" }, 404) : json(found);
    });
  ofRun("", (run) => {
    const row = overview.row(run.id);
    return row && runPage(run, row);
  });
  ofRun("/entries", (run, _, { line, count }) =>
    entryPage(run, number(line, -PAGE_LINES), number(count, PAGE_LINES)),
  );
  ofRun("/iterations/:n", (run, part, { lane }) =>
    iterationDetail(run, number(part("n"), -1), laneIn(run, lane)),
  );
  ofRun("/records", (run) => recordPage(run, undefined, "", {}));
  ofRun("/iterations/:n/files", (run, part, query) =>
    recordPage(run, number(part("n"), -1), "", { ...query, lane: laneIn(run, query["lane"]) }),
  );
  ofRun("/iterations/:n/files/:name", (run, part, query) =>
    recordPage(run, number(part("n"), -1), part("name"), { ...query, lane: laneIn(run, query["lane"]) }),
  );
  ofRun("/diff", (run, _, { iteration, lane }) =>
    diffPage(run, { lane, iteration: iteration === undefined ? undefined : number(iteration, -1) }),
  );
}

/** Only lanes that the journal names. */
function laneIn(run: RunFolder, lane: string | undefined): string | undefined {
  return lane !== undefined && run.state()?.lanes?.[lane] !== undefined ? lane : undefined;
}

function runIn(home: string, id: string): RunFolder | undefined {
  const run = ID.test(id) ? runFolder(home, id) : undefined;
  return run?.isThere() ? run : undefined;
}

function live(app: Hono, { home, overview }: Setup): void {
  app.get("/api/live", (c) => {
    const from = c.req.header("last-event-id") || c.req.query("watch") || "";
    const cursors = new Map([...cursorsIn(from)].filter(([id]) => runIn(home, id) !== undefined));
    return messages(c, (listener) => tellLive(home, overview, cursors, listener));
  });
  app.get("/api/runs/:id/terminal", (c) => {
    const run = runIn(home, c.req.param("id"));
    return run === undefined ? c.notFound() : messages(c, (listener) => tellScreens(run, listener));
  });
}

/** A stream of messages that ends when the browser goes. */
function messages(c: Context, tell: (listener: Listener) => Promise<void>): Response {
  c.header("Content-Type", "text/event-stream; charset=utf-8");
  c.header("X-Accel-Buffering", "no");
  return stream(c, async (out) => {
    const end = new AbortController();
    out.onAbort(() => end.abort());
    await tell({ write: (text) => out.write(text), signal: end.signal });
  });
}

function writes(app: Hono, { home }: Setup): void {
  app.post("/api/runs/:id", async (c) => {
    if (!/^application\/json\b/.test(c.req.header("content-type") ?? ""))
      return json({ error: "send JSON" }, 415);
    const run = runIn(home, c.req.param("id"));
    if (run === undefined) return json({ error: "there is no such run" }, 404);
    const wish = Wish.safeParse(await c.req.json().catch(() => undefined));
    if (!wish.success) return json({ error: "this cannot be asked for" }, 400);
    const { ok, said } = await fulfil(run, wish.data);
    return ok ? json({ said }) : json({ error: said }, 409);
  });
}
