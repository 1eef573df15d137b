import { capture } from "../../process/capture.js";
import { which } from "../../process/which.js";
import { howItEnded } from "./command.js";
import type { Notice } from "./notice.js";

/** The program that shows a notice on this desktop; undefined where there is none. */
export function desktopProgram(
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  const found = which(platform === "darwin" ? "osascript" : "notify-send", "/", env["PATH"]);
  return found.status === "found" ? found.path : undefined;
}

/** Shows it. Resolves to why that failed. */
export async function showOnDesktop(
  program: string,
  notice: Notice,
  timeoutMs: number,
  env: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  const args = program.endsWith("osascript") ? appleScript(notice) : freedesktop(notice);
  const ended = await capture({ file: program, args, cwd: "/", env }, { timeoutMs, graceMs: 500 });
  return ended.ok ? undefined : howItEnded(ended);
}

function titleOf({ name, event }: Notice): string {
  return `ralph${name === null ? "" : ` ${name}`}: ${event}`;
}

/** The text is handed over as an argument: nothing in it is read as a script. */
function appleScript(notice: Notice): string[] {
  const script = [
    "on run argv",
    "display notification (item 1 of argv) with title (item 2 of argv)",
    "end run",
  ];
  return [...script.flatMap((line) => ["-e", line]), "--", notice.message, titleOf(notice)];
}

/** Its body is markup. */
function freedesktop(notice: Notice): string[] {
  const body = notice.message.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return ["--app-name=ralph", "--", titleOf(notice), body];
}
