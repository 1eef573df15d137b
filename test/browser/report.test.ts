import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Report } from "../../src/records/report.js";
import { htmlReport } from "../../src/views/report/html.js";
import { temporaryFolder } from "../kit.js";
import { demo, long, nasty, night, SAMPLES, tame } from "../views/report/samples.js";
import { launchChromium } from "./chromium.js";
import { LOWEST_CONTRAST } from "./contrast.js";

let browser: Browser;
let page: Page;
/** Everything that a page without scripts and requests never does. */
let happened: string[] = [];

beforeAll(async () => {
  browser = await launchChromium();
  page = await browser.newPage();
  page.on("dialog", (dialog) => {
    happened.push(`dialog ${dialog.message()}`);
    return dialog.dismiss();
  });
  page.on("console", (message) => happened.push(`console ${message.text()}`));
  page.on("pageerror", (error) => happened.push(`error ${error.message}`));
  page.on("request", (request) => happened.push(`request ${request.url()}`));
});
afterAll(() => browser.close());

const PHONE = { width: 360, height: 800 };
const DESK = { width: 1440, height: 900 };
const samples = Object.entries(SAMPLES);

async function open(report: Report, size = DESK): Promise<string> {
  const file = join(temporaryFolder(), "report.html");
  writeFileSync(file, htmlReport(report));
  await page.setViewportSize(size);
  happened = [];
  await page.goto(pathToFileURL(file).href);
  return pathToFileURL(file).href;
}

const elements = (): Promise<Record<string, number>> =>
  page.evaluate(
    `[...document.querySelectorAll("*")].reduce((all, { tagName }) => ({ ...all, [tagName]: (all[tagName] ?? 0) + 1 }), {})`,
  );

test("nothing that an agent wrote runs, loads, or becomes an element", async () => {
  const address = await open(nasty);
  await page.locator("summary").first().click();
  await page.locator("pre").first().hover();
  expect(await page.evaluate("window.x")).toBeUndefined();
  expect(happened).toEqual([`request ${address}`]);
  const found = await elements();
  await open(tame);
  expect(found).toEqual(await elements());
});

test("a script that got into the page after all would not run", async () => {
  const file = join(temporaryFolder(), "report.html");
  const smuggled = `<script>window.x = 1</script><img src="x.png" onerror="window.x = 2"><p style="color: red">`;
  writeFileSync(file, htmlReport(demo).replace("<main>", `<main>${smuggled}`));
  await page.goto(pathToFileURL(file).href);
  expect(await page.evaluate("window.x")).toBeUndefined();
  expect(await page.evaluate(`getComputedStyle(document.querySelector("main > p")).color`)).not.toBe(
    "rgb(255, 0, 0)",
  );
});

test.each(samples)("%s fits a phone: what is wide scrolls in a box of its own", async (_, sample) => {
  await open(sample, PHONE);
  await page.evaluate(`for (const details of document.querySelectorAll("details")) details.open = true`);
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(PHONE.width);
});

test("lines stay readable on a wide screen", async () => {
  await open(demo);
  expect((await page.locator("body").boundingBox())?.width).toBeLessThan(1000);
});

test("every text has enough contrast, in the light and in the dark", async () => {
  const seen: { background: unknown; lowest: { text: string; contrast: number } }[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await open(night);
    const background = await page.evaluate("getComputedStyle(document.documentElement).backgroundColor");
    seen.push({ background, lowest: await page.evaluate(LOWEST_CONTRAST) });
  }
  await page.emulateMedia({ colorScheme: null });
  for (const { lowest } of seen) expect(lowest.contrast, lowest.text).toBeGreaterThanOrEqual(4.5);
  expect(seen[0]?.background).not.toBe(seen[1]?.background);
});

test("the grid has a row per check, a column per iteration, and scrolls", async () => {
  await open(long, PHONE);
  const rows = page.locator(".grid tbody tr");
  expect(await rows.count()).toBe(8);
  expect(await page.locator(".grid thead th").count()).toBe(100);
  expect(await page.locator(".grid tbody td").count()).toBe(800);
  expect(await rows.first().locator("td").allInnerTexts()).toHaveLength(100);
  expect(
    await page.evaluate(
      `(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)(document.querySelector(".fading"))`,
    ),
  ).toBe(true);
});

test("the grid of one check and one iteration is one cell", async () => {
  await open({ ...demo, iterations: demo.iterations.slice(0, 1) });
  expect(await page.locator(".grid tbody td").allTextContents()).toEqual(["×failed, exit 1, 10.0s"]);
});

test("a bar leads to its iteration and opens it", async () => {
  await open(demo);
  const first = page.locator("details").first();
  expect(await first.getAttribute("open")).toBeNull();
  await page.locator(".timeline a").first().click();
  expect(await first.getAttribute("open")).not.toBeNull();
});

test("on paper everything is open", async () => {
  await open(demo);
  await page.emulateMedia({ media: "print" });
  const shown = await page
    .locator("pre")
    .evaluateAll((blocks) => blocks.map((block) => block.checkVisibility()));
  await page.emulateMedia({ media: null });
  expect(shown).toEqual([true, true, true, true, true]);
});
