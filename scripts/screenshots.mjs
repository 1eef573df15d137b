// Makes the pictures of docs/guides/ui.md from real runs of scripted agents, in Chromium.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { sampleRuns } from "./sample-runs.mjs";

const FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"];
const PICTURES = [
  { file: "ui.png", width: 1280, height: 640, scheme: "light", path: () => "/" },
  {
    file: "ui-run.png",
    width: 1280,
    height: 800,
    scheme: "dark",
    path: (id) => `/runs/${id("quoted-fields")}`,
  },
  {
    file: "ui-phone.png",
    width: 390,
    height: 760,
    scheme: "light",
    path: (id) => `/runs/${id("lone-quotes")}`,
  },
];

const root = mkdtempSync(join(tmpdir(), "ralph-pictures-"));
const { env, runs, living } = await sampleRuns(root);
const server = spawn(process.execPath, ["bin/ralph.js", "ui", "--port", "0", "--no-open"], { env });
const [said] = await once(server.stdout.setEncoding("utf8"), "data");
const link = new URL(said.split("\n")[0]);
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: FLAGS });
try {
  const page = await browser.newPage();
  await page.goto(link.href);
  await page.waitForURL(`${link.origin}/`);
  const id = (name) => runs().find((run) => run.name === name).id;
  for (const { file, width, height, scheme, path } of PICTURES) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: scheme });
    await page.goto(`${link.origin}${path(id)}`);
    await page.locator(".loading").waitFor({ state: "detached" });
    await page.getByText("live", { exact: true }).waitFor();
    await page.screenshot({ path: join("docs", file) });
  }
} finally {
  await browser.close();
  server.kill("SIGINT");
  // The second signal ends the agent, too.
  for (const child of [...living, ...living]) child.kill("SIGINT");
  await Promise.all(living.map((child) => once(child, "exit")));
  rmSync(root, { recursive: true, force: true });
}
