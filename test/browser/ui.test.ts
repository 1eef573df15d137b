import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { LoopEventBody } from "../../src/events.js";
import { RunFolder } from "../../src/records/runs.js";
import { atEnd, createProject } from "../kit.js";
import { blocked, dashboardOf, homeWith, iterationOf, line, RUN, STARTED } from "../ui/kit.js";
import { serverOf } from "../workers/kit.js";
import { launchChromium } from "./chromium.js";
import { LOWEST_CONTRAST } from "./contrast.js";

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());

const OVERFLOW = "Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth)";
const DESK = { width: 1280, height: 720 };
const PHONE = { width: 360, height: 780 };
const EVENTS = [STARTED, ...iterationOf(1), ...iterationOf(2), blocked("Which one?", 2)];
const PAGES = [
  "/",
  "/costs",
  ...["", "/stream", "/diff", "/records", "/iteration/1"].map((tab) => `/runs/${RUN}${tab}`),
];

const [RACE, PIPE, LONG] = ["20261101-120001-00000b", "20261101-120002-00000c", "20261101-120003-00000d"];
const inLane = (lane: string, words: string): LoopEventBody[] =>
  iterationOf(1, [words]).map((body) => ({ ...body, lane }));

/** A home with a run of each shape: one that asks, a race, a pipeline, and one of 300 iterations with long names. */
function homeOfAll(): string {
  const { home } = homeWith(EVENTS);
  const lanes = ["claude-1", "codex-1"].flatMap((lane) => [
    { type: "lane.started", lane, slot: 0, branch: `ralph/x/${lane}`, worktree: "/w", base: "b" } as const,
    ...inLane(lane, `said in ${lane}`),
  ]);
  homeWith([{ ...STARTED, parallel: 2 } as LoopEventBody, ...lanes], { home, id: RACE, name: "race" });
  for (const lane of ["claude-1", "codex-1"]) {
    const folder = join(new RunFolder(home, RACE, lane).path, "iterations", "001");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "prompt.md"), `asked in ${lane}`);
  }
  const states = ["PLAN", "BUILD"].map((name) => ({ name, goal: `Make ${name}`, command: "test -f ok" }));
  homeWith([STARTED, ...iterationOf(1)], { home, id: PIPE, recipe: { kind: "pipeline", states } });
  const many = Array.from({ length: 300 }, (_, index) => iterationOf(index + 1));
  homeWith([STARTED, ...many.flat()], { home, id: LONG, name: `long-${"name-".repeat(12)}` });
  return home;
}

const ALL_PAGES = [
  ...PAGES,
  ...["", "/lanes", "/stream/@claude-1", "/records/1@codex-1"].map((tab) => `/runs/${RACE}${tab}`),
  `/runs/${PIPE}/states`,
  ...["", "/stream/150", "/records"].map((tab) => `/runs/${LONG}${tab}`),
  "/runs/20200101-000000-abcdef",
];

/** Without animations: they take more of the processor than all else. */
async function newContext(): Promise<BrowserContext> {
  const context = await browser.newContext({ reducedMotion: "reduce" });
  // Of the last test the browser may close first.
  atEnd(() => void context.close().catch(() => {}));
  return context;
}

/** A browser that was let in, and everything that went wrong in it. */
async function letIn(home: string, more: { readOnly?: boolean; token?: string } = {}) {
  const served = await dashboardOf(home, more);
  const context = await newContext();
  const trouble: string[] = [];
  const requests: string[] = [];
  context.on("page", (page) => {
    page.on("console", (said) => said.type() === "error" && trouble.push(said.text()));
    page.on("pageerror", (error) => trouble.push(error.message));
    page.on("dialog", (dialog) => {
      trouble.push(`dialog ${dialog.message()}`);
      return dialog.dismiss();
    });
    page.on("request", (request) => requests.push(request.url()));
  });
  const page = await context.newPage();
  await page.goto(`${served.origin}${served.link()}`);
  await page.waitForURL(`${served.origin}/`);
  return { ...served, context, page, trouble, requests };
}

async function open(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await page.locator(".loading").waitFor({ state: "detached" });
  await page.locator("main > *").first().waitFor();
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const STEERING = /[\u202a-\u202e\u2066-\u2069\u001b]/;
const EVIL = `<img src=x onerror="alert(1)"></script></title><script>alert(2)</script>\u2028\u2029"'\`[x](javascript:alert(3)) \u001b[31mred\u001b]8;;javascript:alert(4)\u0007\u202Etxt.exe\u2066`;

const ATTRIBUTES =
  "[document.title, ...document.querySelectorAll('*')].flatMap((one) => [...(one.attributes ?? [])].map(({ value }) => value)).join()";

test("nothing that an agent wrote runs, loads, or turns the text around it", async () => {
  const evil = iterationOf(1, [EVIL]).map((body) =>
    JSON.parse(
      JSON.stringify(body)
        .replaceAll('"npm test"', JSON.stringify(EVIL))
        .replaceAll('"1 failed"', JSON.stringify(EVIL)),
    ),
  );
  const home = homeWith([STARTED, ...evil, blocked(EVIL)], { task: EVIL.repeat(50), name: EVIL }).home;
  const folder = join(home, "runs", RUN, "iterations", "001");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "prompt.md"), EVIL);
  const { page, origin, trouble, requests } = await letIn(home);
  for (const path of PAGES) {
    await open(page, `${origin}${path}`);
    const text = await page.evaluate("document.body.innerText");
    expect(String(text)).not.toMatch(STEERING);
    expect(await page.evaluate(ATTRIBUTES)).not.toMatch(STEERING);
    expect(await page.locator('main img, main script, a[href^="javascript" i]').count()).toBe(0);
  }
  expect(await page.locator("pre .ansi-red, pre span").count()).toBeGreaterThan(0);
  expect(trouble).toEqual([]);
  expect(requests.filter((url) => !url.startsWith(origin))).toEqual([]);
});

test("a question is answered with keys alone, and one that has changed meanwhile is not", async () => {
  const { home, journal } = homeWith(EVENTS);
  const { page } = await letIn(home);
  await page.locator("[data-row]").waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/runs\//);
  const field = page.getByLabel("your answer");
  await field.waitFor();
  await page.keyboard.press("a");
  await page.keyboard.type("The second one");
  // Another process has gone on with the run, and it asks again.
  for (const body of [...iterationOf(3), blocked("And which one now?", 3)])
    appendFileSync(journal, line(body));
  await page.getByText("And which one now?").first().waitFor();
  await page.getByRole("button", { name: "Answer only" }).click();
  await page.getByRole("alert").filter({ hasText: "the question has changed" }).waitFor();
  expect(existsSync(join(home, "runs", RUN, "answer.json"))).toBe(false);
  await page.getByRole("button", { name: "Answer only" }).click();
  await page.getByRole("status").filter({ hasText: "answered" }).waitFor();
  expect(JSON.parse(readFileSync(join(home, "runs", RUN, "answer.json"), "utf8")).answer).toBe(
    "The second one",
  );
  await page.getByRole("button", { name: "Resume", exact: true }).waitFor();
});

test("twenty tabs share one stream, and each shows what is written", async () => {
  const { home, journal } = homeWith([STARTED, ...iterationOf(1)]);
  const { context, origin, requests } = await letIn(home);
  const pages: Page[] = [];
  for (let number = 0; number < 20; number += 1) {
    const page = await context.newPage();
    pages.push(page);
    await page.goto(`${origin}/runs/${RUN}/stream`);
  }
  for (const page of pages) await page.getByText("live", { exact: true }).waitFor();
  await pages[19]?.locator(".block").first().waitFor();
  appendFileSync(
    journal,
    line({ type: "agent.event", iteration: 2, event: { type: "text", text: "heard by all" } }),
  );
  for (const page of pages) await page.getByText("heard by all").waitFor();
  expect(requests.filter((url) => url.includes("/api/live")).length).toBeLessThan(pages.length);
  // Who leads goes, and another one takes over.
  for (const page of pages.splice(0, 15)) await page.close();
  appendFileSync(
    journal,
    line({ type: "agent.event", iteration: 2, event: { type: "text", text: "and after that" } }),
  );
  for (const page of pages) await page.getByText("and after that").waitFor();
});

test("without https each tab has a stream of its own", async () => {
  const { home, journal } = homeWith([STARTED, ...iterationOf(1)]);
  const { context, origin, trouble } = await letIn(home);
  await context.addInitScript(
    `Object.defineProperty(Navigator.prototype, "locks", { value: undefined }); delete Crypto.prototype.randomUUID;`,
  );
  const pages = [await context.newPage(), await context.newPage()];
  for (const page of pages) {
    await open(page, `${origin}/runs/${RUN}/stream`);
    await page.getByText("live", { exact: true }).waitFor();
  }
  appendFileSync(
    journal,
    line({ type: "agent.event", iteration: 2, event: { type: "text", text: "heard by both" } }),
  );
  for (const page of pages) await page.getByText("heard by both").waitFor();
  expect(trouble).toEqual([]);
});

test("a server that says nothing is one of which nothing can be told, until it is back", async () => {
  const p = createProject();
  const ui = p.start(["ui", "--port", "0", "--no-open"]);
  let said = "";
  await ui.until((text) => {
    said = text;
    return text.includes("Ctrl+C ends it\n");
  });
  const page = await (await newContext()).newPage();
  await page.clock.install();
  await page.goto(/^http:\S+$/m.exec(said)?.[0] ?? "");
  await page.getByText("live", { exact: true }).waitFor();
  // Its process does not end, and its connections stay.
  ui.child.kill("SIGSTOP");
  await page.clock.fastForward("01:00");
  await page.getByText("cannot tell").waitFor();
  ui.child.kill("SIGCONT");
  await page.getByText("live", { exact: true }).waitFor();
});

test("a page that shows a journal with another one in its place begins again", async () => {
  const { home, journal } = homeWith([STARTED, ...iterationOf(1), ...iterationOf(2, ["long gone"])]);
  const { page, origin } = await letIn(home);
  await open(page, `${origin}/runs/${RUN}/stream`);
  await page.getByText("live", { exact: true }).waitFor();
  await page.getByText("long gone").waitFor();
  writeFileSync(
    journal,
    [STARTED, ...iterationOf(1, ["from the beginning"])].map((body) => line(body)).join(""),
  );
  await page.getByText("from the beginning").waitFor();
  expect(await page.getByText("long gone").count()).toBe(0);
});

test("the token of a file lets a browser in that has no link", async () => {
  const { origin } = await letIn(homeWith(EVENTS).home, { token: "a long secret of mine" });
  const page = await (await newContext()).newPage();
  await page.goto(`${origin}/enter`);
  await page.getByLabel("Token").fill("not the secret of mine");
  await page.getByRole("button", { name: "Enter" }).click();
  await page.getByText("This is not the token").waitFor();
  await page.goto(`${origin}/enter`);
  await page.getByLabel("Token").fill("a long secret of mine");
  await page.getByRole("button", { name: "Enter" }).click();
  await page.locator("[data-row]").waitFor();
  expect(page.url()).toBe(`${origin}/`);
});

test("pages of others can neither read, listen nor write, whatever cookie the browser has", async () => {
  const { home } = homeWith(EVENTS);
  const { context, origin } = await letIn(home);
  // Another port of this machine is the same site: the browser sends the cookie along.
  const other = createServer((_, response) =>
    response.setHeader("Content-Type", "text/html").end("<p>other</p>"),
  );
  atEnd(() => void other.close());
  await once(other.listen(0, "127.0.0.1"), "listening");
  const page = await context.newPage();
  await page.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`);
  const tried = await page.evaluate(`(async () => {
    const at = (path) => "${origin}" + path;
    const wish = JSON.stringify({ action: "steer", text: "evil" });
    const ask = (path, init) => fetch(at(path), { credentials: "include", ...init }).then(({ type, status }) => type + status, () => "refused");
    const write = { method: "POST", body: wish };
    const opened = (source, good) => new Promise((done) => { source.onerror = () => done("refused"); source[good] = () => done("open"); });
    const script = document.body.appendChild(document.createElement("script"));
    return [
      await ask("/api/overview"),
      await ask("/api/overview", { mode: "no-cors" }),
      await ask("/api/runs/${RUN}", { ...write, headers: { "Content-Type": "application/json" } }),
      await ask("/api/runs/${RUN}", { ...write, mode: "no-cors" }),
      await opened(new EventSource(at("/api/live"), { withCredentials: true }), "onopen"),
      await opened(new WebSocket(at("/api/live").replace("http", "ws")), "onopen"),
      await new Promise((done) => { script.onerror = () => done("refused"); script.onload = () => done("open"); script.src = at("/api/overview"); }),
    ];
  })()`);
  expect(tried).toEqual(Array(7).fill("refused"));
  await page.evaluate(`(() => {
    const wish = JSON.stringify({ action: "steer", text: "evil", x: "" });
    const form = document.body.appendChild(document.createElement("form"));
    const field = { name: wish.slice(0, -2), value: '"}' };
    Object.assign(form, { method: "post", action: "${origin}/api/runs/${RUN}", enctype: "text/plain" });
    form.appendChild(Object.assign(document.createElement("input"), field));
    form.submit();
  })()`);
  await page.getByText("a page of another site may not ask").waitFor();
  expect(existsSync(join(home, "runs", RUN, "steering.json"))).toBe(false);
});

test("a journal of 100,000 events opens at its end, and at any iteration", async () => {
  const said = Array.from({ length: 1000 }, (_, index) => iterationOf(index + 1, Array(93).fill("word ")));
  const { page, origin } = await letIn(homeWith([STARTED, ...said.flat()]).home);
  await open(page, `${origin}/runs/${RUN}/stream`);
  await page.getByText("Iteration 1000", { exact: true }).waitFor();
  expect(await page.locator(".block").count()).toBeLessThan(1000);
  await open(page, `${origin}/runs/${RUN}/stream/500`);
  expect(await page.locator(".block").first().textContent()).toContain("Iteration 500");
});

test("every page comes without a jump, fits a phone, has contrast and hears the keys", {
  timeout: 240_000,
}, async () => {
  const { page, origin } = await letIn(homeOfAll());
  await page.addInitScript(`
    window.moved = [];
    new PerformanceObserver((list) => {
      for (const { value, sources } of list.getEntries())
        if (value > 0.005) window.moved.push(sources.map(({ node }) => node?.className ?? ""));
    }).observe({ type: "layout-shift", buffered: true });
  `);
  const loaded = new Set<string>();
  page.on("response", (response) => loaded.add(new URL(response.url()).pathname));
  for (const path of ALL_PAGES) {
    await page.setViewportSize(DESK);
    await open(page, `${origin}${path}`);
    await page.getByText("live", { exact: true }).waitFor();
    expect(await page.evaluate("window.moved"), path).toEqual([]);
    await hearsKeys(page, path);
    await page.setViewportSize(PHONE);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      const lowest = (await page.evaluate(LOWEST_CONTRAST)) as { text: string; contrast: number };
      expect(lowest.contrast, `${path}: ${lowest.text}`).toBeGreaterThanOrEqual(4.5);
    }
    expect(await page.evaluate(OVERFLOW), path).toBe(0);
  }
  const assets = [...loaded].filter((path) => path.startsWith("/assets/"));
  expect(assets.map((name) => name.replace(/-[\w-]{8}\./, ".")).sort()).toEqual([
    "/assets/main.css",
    "/assets/main.js",
  ]);
  const bodies = assets.map(async (path) => (await page.request.get(origin + path)).body());
  const size = (await Promise.all(bodies)).reduce((sum, body) => sum + gzipSync(body).length, 0);
  expect(size, "bytes for all pages but the terminal").toBeLessThan(60_000);
});

/** j and k, / and ?. */
async function hearsKeys(page: Page, path: string): Promise<void> {
  await page.keyboard.press("j");
  const rows = await page.locator("[data-row]").count();
  expect(await page.evaluate("document.activeElement.matches('[data-row]')"), path).toBe(rows > 0);
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("/");
  await page.keyboard.type("uc");
  expect(await page.getByLabel("search the runs").inputValue(), path).toBe("uc");
  await page.getByLabel("search the runs").fill("");
}

test("each lane has a stream and records of its own", async () => {
  const { page, origin } = await letIn(homeOfAll());
  await open(page, `${origin}/runs/${RACE}/lanes`);
  const lane = page.getByRole("region", { name: "codex-1" });
  expect(await lane.locator(".grid tbody td").count()).toBe(1);
  await lane.getByRole("link", { name: "stream" }).click();
  await page.getByText("said in codex-1").waitFor();
  expect(await page.getByText("said in claude-1").count()).toBe(0);
  await page.getByRole("link", { name: "Records" }).click();
  await page.getByText("asked in codex-1").waitFor();
  await page.getByRole("link", { name: "1", exact: true }).first().click();
  await page.getByText("asked in claude-1").waitFor();
});

test("of 300 iterations those around one are shown, and any other is one number away", async () => {
  const { page, origin } = await letIn(homeOfAll());
  await open(page, `${origin}/runs/${LONG}`);
  expect(await page.locator("summary").count()).toBe(50);
  expect(await page.locator(".grid thead th").count()).toBe(200);
  await page.getByRole("button", { name: "Show the other 250" }).click();
  await page.locator("summary").nth(299).waitFor();
  await open(page, `${origin}/runs/${LONG}/stream/150`);
  const links = page.getByRole("navigation", { name: "iterations" }).getByRole("link");
  expect(await links.allInnerTexts()).toEqual([
    "latest",
    "1",
    "147",
    "148",
    "149",
    "150",
    "151",
    "152",
    "153",
    "300",
  ]);
  await page.getByLabel("go to iteration").fill("42");
  await page.keyboard.press("Enter");
  await page.getByText("Iteration 42", { exact: true }).waitFor();
});

test("without word from the server nothing that was at work is said to be so", async () => {
  const { home } = homeWith([STARTED, ...iterationOf(1)]);
  writeFileSync(join(home, "runs", RUN, "elsewhere"), "");
  const { page, origin, close } = await letIn(home);
  await page.getByText("running", { exact: true }).waitFor();
  close();
  await page.locator(".run-row").getByText("cannot tell").waitFor();
  await page.locator(".run-row").getByRole("img", { name: "cannot tell" }).waitFor();
  expect(origin).toContain("127.0.0.1");
});

test("the page of a run and the HTML report show the same bars, grid, figures and iterations", async () => {
  const p = createProject();
  const { home } = homeWith(EVENTS, { home: p.env["RALPH_HOME"] as string });
  const { page, origin } = await letIn(home);
  const seen = (): Promise<unknown> =>
    page.evaluate(`["svg title", ".grid th", ".grid td", "figcaption", ".legend li", "header .totals div", ".inside h3, .inside li"]
      .map((part) => [...document.querySelectorAll(part)].map((one) => one.className + ": " + one.textContent.trim()))`);
  await open(page, `${origin}/runs/${RUN}/iteration/2`);
  await page.locator("summary").last().click();
  await page.locator(".inside ul").nth(1).waitFor();
  const onPage = (await seen()) as string[][];
  await p.ralph("report", RUN, "--html", "report.html");
  await page.goto(pathToFileURL(join(p.dir, "report.html")).href);
  const inReport = (await seen()) as string[][];
  // The report begins with the first iteration, the page with the last.
  expect(onPage.map((part) => part.sort())).toEqual(inReport.map((part) => part.sort()));
  expect(onPage.every((part) => part.length > 0)).toBe(true);
});

test("a phone can install it: a manifest, and icons of the sizes that it names", async () => {
  const { page, origin } = await letIn(homeWith(EVENTS).home);
  const manifest = await (await page.request.get(`${origin}/manifest.webmanifest`)).json();
  expect(manifest).toMatchObject({ start_url: "/", display: "standalone" });
  for (const { src, sizes, type } of manifest.icons.filter(
    (icon: { sizes: string }) => icon.sizes !== "any",
  )) {
    await page.goto(`${origin}${src}`);
    const size = await page.evaluate("[document.images[0].naturalWidth, document.images[0].naturalHeight]");
    expect([type, size]).toEqual(["image/png", sizes.split("x").map(Number)]);
  }
});

test("read-only shows no way to write", async () => {
  const { page, origin } = await letIn(homeWith(EVENTS).home, { readOnly: true });
  for (const path of ["/", `/runs/${RUN}`, `/runs/${RUN}/diff`]) {
    await open(page, `${origin}${path}`);
    expect(await page.locator("textarea, .actions button, .danger").count()).toBe(0);
  }
});

test("a line of the diff is commented, and refused when the file has changed since", async () => {
  const { home, workspace } = homeWith(EVENTS);
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: workspace });
  writeFileSync(join(workspace, "a.txt"), "one\ntwo\n");
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "x");
  const base = String(git("rev-parse", "HEAD")).trim();
  const spec = join(home, "runs", RUN, "spec.json");
  writeFileSync(spec, JSON.stringify({ ...JSON.parse(readFileSync(spec, "utf8")), base }));
  writeFileSync(join(workspace, "a.txt"), "one\nTWO\n");
  const { page, origin } = await letIn(home);
  await open(page, `${origin}/runs/${RUN}/diff`);
  const comment = async (text: string): Promise<void> => {
    await page.getByRole("button", { name: "comment line 2 of a.txt" }).last().click();
    await page.getByLabel("comment", { exact: true }).fill(text);
    await page.getByRole("button", { name: "Comment", exact: true }).click();
  };
  await comment("Write it small.");
  await page.getByRole("status").filter({ hasText: "the next iteration gets" }).waitFor();
  const steering = (): string[] => JSON.parse(readFileSync(join(home, "runs", RUN, "steering.json"), "utf8"));
  expect(steering()).toEqual([
    `A comment on a.txt, line 2 (seen at commit ${base.slice(0, 10)}):\n> +TWO\nWrite it small.`,
  ]);
  writeFileSync(join(workspace, "a.txt"), "one\nthree\n");
  await comment("Too late.");
  await page.getByRole("alert").filter({ hasText: "has changed since" }).waitFor();
  expect(steering()).toHaveLength(1);
});

test("the window of a worker is seen and typed into", async () => {
  const p = createProject();
  serverOf(p);
  p.write("PROMPT.md", "go");
  p.program(
    "asks",
    "#!/bin/sh\nprintf 'your name? '\nread -r name </dev/tty\necho \"hello $name\"\nsleep 60\n",
  );
  await p.ralph("spawn", "--name", "typed", "--prompt-file", "PROMPT.md", "-n", "1", "--", "asks");
  const { page, origin, trouble } = await letIn(p.env["RALPH_HOME"] as string);
  await page.locator("[data-row]").first().click();
  await page.getByRole("link", { name: "Terminal" }).click();
  await page.locator(".xterm-rows").getByText("your name?").waitFor();
  await page.locator(".xterm").click();
  await page.keyboard.type("Ada");
  await page.keyboard.press("Enter");
  await page.locator(".xterm-rows").getByText("hello Ada").waitFor();
  expect(trouble).toEqual([]);
  expect(origin).toContain("127.0.0.1");
});
