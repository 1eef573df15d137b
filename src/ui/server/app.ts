import { type Context, Hono, type MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { stream } from "hono/streaming";
import type { CostKey } from "../../costs.js";
import { COST_KEYS } from "../../costs.js";
import { manifest } from "../../package-folder.cjs";
import { type RunFolder, runFolder } from "../../records/runs.js";
import type { Overview } from "../api.js";
import type { Door } from "./access.js";
import { fulfil, tellScreens, Wish } from "./actions.js";
import type { Assets } from "./assets.js";
import { diffPage } from "./diffs.js";
import { entryPage, recordPage } from "./journal.js";
import { costsSince, listOf } from "./lists.js";
import { cursorsIn, type Listener, tellLive } from "./live.js";
import type { RunOverview } from "./overview.js";
import { iterationDetail, runPage } from "./run-page.js";
import { shownJson } from "./text.js";

export interface Dashboard {
  home: string;
  door: Door;
  readOnly: boolean;
  assets: Assets;
  overview: RunOverview;
}

export function dashboard(setup: Dashboard): Hono {
  const app = new Hono();
  app.use(guard(setup));
  app.use(bodyLimit({ maxSize: MOST_BYTES, onError: () => json({ error: "this is too long" }, 413) }));
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

function guard({ door, assets }: Dashboard): MiddlewareHandler {
  return async (c, next) => {
    const { req } = c;
    if (OPEN.test(req.path) || door.isIn(req.header("cookie"))) return next();
    return req.path.startsWith("/api/")
      ? c.json({ error: "this browser was not let in" }, 401)
      : c.html(assets.page("locked"), 401);
  };
}

/** What people write is shorter. */
const MOST_BYTES = 256 * 1024;

/** A page of its own leads on: a browser sends no strict cookie to where another site's link has led it. */
function entrance(app: Hono, { door, assets }: Dashboard): void {
  app.get("/enter/:secret", (c) => {
    // Who only looks ahead must not use the link up.
    const purpose = c.req.header("sec-purpose") ?? c.req.header("purpose") ?? "";
    if (c.req.method === "HEAD" || /prefetch|preview/i.test(purpose)) return c.text("", 425);
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

function pages(app: Hono, { assets }: Dashboard): void {
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

function data(app: Hono, { home, overview, readOnly }: Dashboard): void {
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
      const { id = "", ...parts } = c.req.param() as Record<string, string>;
      const query = c.req.query();
      const run = runIn(home, id, query["lane"]);
      const found = run && (await answer(run, (name) => parts[name] ?? "", query));
      return found === undefined ? json({ error: "there is no such record" }, 404) : json(found);
    });
  ofRun("", (run) => {
    const row = overview.row(run.id);
    return row && runPage(run, row);
  });
  ofRun("/entries", (run, _, { line, count }) =>
    entryPage(run, number(line, -PAGE_LINES), number(count, PAGE_LINES)),
  );
  ofRun("/iterations/:n", (run, part, { lane }) => iterationDetail(run, number(part("n"), -1), lane));
  ofRun("/records", (run) => recordPage(run, undefined, "", {}));
  ofRun("/iterations/:n/files/:name?", (run, part, query) =>
    recordPage(run, number(part("n"), -1), part("name"), query),
  );
  ofRun("/diff", (run, _, { iteration, lane }) =>
    diffPage(run, { lane, iteration: iteration === undefined ? undefined : number(iteration, -1) }),
  );
}

/** Only what the records have: with `lane`, one that the journal names. */
function runIn(home: string, id: string, lane?: string): RunFolder | undefined {
  const run = ID.test(id) ? runFolder(home, id) : undefined;
  if (!run?.isThere()) return undefined;
  return lane === undefined || Object.hasOwn(run.state()?.lanes ?? {}, lane) ? run : undefined;
}

function live(app: Hono, { home, overview }: Dashboard): void {
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
  if (c.req.method === "HEAD") return c.body(null);
  c.header("Content-Type", "text/event-stream; charset=utf-8");
  c.header("X-Accel-Buffering", "no");
  return stream(c, async (out) => {
    const end = new AbortController();
    out.onAbort(() => end.abort());
    await tell({ write: (text) => out.write(text), signal: end.signal });
  });
}

function writes(app: Hono, { home }: Dashboard): void {
  app.post("/api/runs/:id", async (c) => {
    if (!/^application\/json *(?:;|$)/i.test(c.req.header("content-type") ?? ""))
      return json({ error: "send JSON" }, 415);
    const run = runIn(home, c.req.param("id"));
    if (run === undefined) return json({ error: "there is no such run" }, 404);
    const wish = Wish.safeParse(await c.req.json().catch(() => undefined));
    if (!wish.success) return json({ error: "this cannot be asked for" }, 400);
    const { ok, said } = await fulfil(run, wish.data);
    return ok ? json({ said }) : json({ error: said }, 409);
  });
}
