import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
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
const PHONE = { width: 360, height: 780 };
const EVENTS = [STARTED, ...iterationOf(1), ...iterationOf(2), blocked("Which one?", 2)];
const PAGES = [
  "/",
  "/costs",
  ...["", "/stream", "/diff", "/records", "/iteration/1"].map((tab) => `/runs/${RUN}${tab}`),
];

/** A browser that was let in, and everything that went wrong in it. */
async function letIn(home: string, more: { readOnly?: boolean } = {}) {
  const served = await dashboardOf(home, more);
  const context = await browser.newContext();
  atEnd(() => void context.close());
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
const EVIL = `<img src=x onerror="alert(1)"><script>alert(2)</script>[x](javascript:alert(3)) \u001b[31mred\u001b]8;;javascript:alert(4)\u0007\u202Etxt.exe\u2066`;

test("nothing that an agent wrote runs, loads, or turns the text around it", async () => {
  const evil = iterationOf(1, [EVIL]).map((body) =>
    JSON.parse(
      JSON.stringify(body)
        .replaceAll('"npm test"', JSON.stringify(EVIL))
        .replaceAll('"1 failed"', JSON.stringify(EVIL)),
    ),
  );
  const home = homeWith([STARTED, ...evil, blocked(EVIL)], { task: EVIL, name: "evil" }).home;
  const folder = join(home, "runs", RUN, "iterations", "001");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "prompt.md"), EVIL);
  const { page, origin, trouble, requests } = await letIn(home);
  for (const path of PAGES) {
    await open(page, `${origin}${path}`);
    const text = await page.evaluate("document.body.innerText");
    expect(String(text)).not.toMatch(STEERING);
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
  for (const body of [...iterationOf(3), blocked("Which one?", 3)]) appendFileSync(journal, line(body));
  await page.getByRole("button", { name: "Answer only" }).click();
  await page.getByRole("alert").filter({ hasText: "has changed meanwhile" }).waitFor();
  expect(existsSync(join(home, "runs", RUN, "answer.json"))).toBe(false);
  await page.getByRole("button", { name: "Answer only" }).click();
  await page.getByRole("status").filter({ hasText: "answered" }).waitFor();
  expect(JSON.parse(readFileSync(join(home, "runs", RUN, "answer.json"), "utf8")).answer).toBe(
    "The second one",
  );
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

test("a journal of 100,000 events opens at its end, and at any iteration", async () => {
  const said = Array.from({ length: 1000 }, (_, index) => iterationOf(index + 1, Array(93).fill("word ")));
  const { page, origin } = await letIn(homeWith([STARTED, ...said.flat()]).home);
  await open(page, `${origin}/runs/${RUN}/stream`);
  await page.getByText("Iteration 1000", { exact: true }).waitFor();
  expect(await page.locator(".block").count()).toBeLessThan(1000);
  await open(page, `${origin}/runs/${RUN}/stream/500`);
  expect(await page.locator(".block").first().textContent()).toContain("Iteration 500");
});

test("every page fits a phone, and every text has enough contrast in the light and in the dark", async () => {
  const { page, origin } = await letIn(homeWith(EVENTS).home);
  await page.setViewportSize(PHONE);
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    for (const path of PAGES) {
      await open(page, `${origin}${path}`);
      expect(await page.evaluate(OVERFLOW), path).toBe(0);
      const lowest = (await page.evaluate(LOWEST_CONTRAST)) as { text: string; contrast: number };
      expect(lowest.contrast, `${path}: ${lowest.text}`).toBeGreaterThanOrEqual(4.5);
    }
  }
});

test("read-only shows no way to write", async () => {
  const { page, origin } = await letIn(homeWith(EVENTS).home, { readOnly: true });
  for (const path of PAGES) {
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
