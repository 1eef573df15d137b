import { type Browser, chromium } from "playwright-core";
import { which } from "../../src/process/which.js";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // A process for each page takes most of the time of a test.
  "--renderer-process-limit=1",
];

/** The browser of this machine: `CHROMIUM`, or the first that is on PATH. */
function chromiumPath(): string | undefined {
  if (process.env["CHROMIUM"]) return process.env["CHROMIUM"];
  const found = NAMES.map((name) => which(name, process.cwd())).find(({ status }) => status === "found");
  return found?.status === "found" ? found.path : undefined;
}

export async function launchChromium(): Promise<Browser> {
  const executablePath = chromiumPath();
  if (executablePath === undefined) throw new Error(`no browser: set CHROMIUM or install ${NAMES[0]}`);
  return chromium.launch({ executablePath, args: FLAGS });
}
