import { systemErrorCode } from "../errors.js";
import type { LoopEvent } from "../events.js";
import type { Redact } from "../records/redact.js";
import type { RunState } from "../records/run-state.js";
import type { Settings } from "../settings/schema.js";
import { brief, harmlessLine } from "./harmless.js";
import { titleOfEnd } from "./summary.js";
import type { View } from "./view.js";

export interface Notice {
  run: string;
  /** The worker's name, if the run is the loop of one. */
  name: string | null;
  event: "finished" | "failed" | "blocked" | "waiting";
  reason: string;
  iterations: number;
  /** null: the agent reports no cost. */
  costUsd: number | null;
  message: string;
}

export interface NotifySetup {
  targets: NonNullable<Settings["notify"]>;
  name: string | null;
  verbose: boolean;
  redact: Redact;
  /** Runs a program in the folder of the project to its end. Resolves to why that failed. */
  run(file: string, args: string[], stdin: string, timeoutMs: number): Promise<string | undefined>;
  find(names: string[]): string | undefined;
}

/** The end of a run waits at most this long; all are sent at the same time. */
const SEND_MS = 5000;

/** The same view; it also sends important events to people who are not watching. */
export function notifyingView(view: View, notifying: NotifySetup): View {
  const { targets, name, redact } = notifying;
  const underWay = new Set<Promise<unknown>>();
  const send = (notice: Notice): void => {
    for (const [way, failure] of Object.entries(sent(notice, notifying, view.note))) {
      if (failure === undefined) continue;
      const told = failure.then((why) => {
        underWay.delete(told);
        if (why) view.note(`ralph: warning: notify.${way} failed: ${redact(why)}`);
      });
      underWay.add(told);
    }
  };
  return {
    ...view,
    event(event, state) {
      const shown = view.event(event, state);
      const notice = noticeOf(event, state, name);
      if (notice !== undefined && (targets.on?.includes(notice.event) ?? true)) send(notice);
      if (event.type !== "run.finished" || underWay.size === 0) return shown;
      return Promise.all([shown, ...underWay]).then(() => {});
    },
  };
}

const MESSAGE_CHARS = 500;

/** undefined: the event is not worth a notice. */
export function noticeOf(
  event: LoopEvent,
  state: Readonly<RunState>,
  name: string | null,
): Notice | undefined {
  const { run } = event;
  if (event.type === "limit.waiting") {
    const { iterations, costUsd } = state;
    const message = `Waiting for a usage limit to end until ${event.until}`;
    return { run, name, event: "waiting", reason: "usage_limit", iterations, costUsd, message };
  }
  if (event.type !== "run.finished") return undefined;
  const { reason, exitCode, iterations, costUsd } = event;
  const failure = reason === "blocked" ? "blocked" : "failed";
  const message = brief(harmlessLine(event.message ?? titleOfEnd(event, state.limits)).trim(), MESSAGE_CHARS);
  return { run, name, event: exitCode === 0 ? "finished" : failure, reason, iterations, costUsd, message };
}

/** Why each of the ways failed, as soon as that is known. */
function sent(notice: Notice, { targets, run, find, verbose }: NotifySetup, note: View["note"]) {
  const { webhook, command, desktop } = targets;
  const program = desktop ? find(["notify-send", "osascript"]) : undefined;
  // Settings are shared: that a machine has no desktop is not worth a warning each time.
  if (desktop && program === undefined && verbose)
    note("[ralph] No desktop notification: neither notify-send nor osascript is installed");
  const { name, event, message } = notice;
  const title = `ralph${name === null ? "" : ` ${name}`}: ${event}`;
  // A desktop reads the text as markup.
  const body = message.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const args = program?.endsWith("osascript")
    ? [...APPLE_SCRIPT, "--", message, title]
    : ["--app-name=ralph", "--", title, body];
  return {
    webhook: webhook === undefined ? undefined : postNotice(webhook, notice),
    command: command && run("/bin/sh", ["-c", command], `${JSON.stringify(notice)}\n`, SEND_MS),
    desktop: program && run(program, args, "", SEND_MS),
  } as Record<string, Promise<string | undefined> | undefined>;
}

/** The text is handed over as an argument: nothing in it is read as a script. */
const APPLE_SCRIPT = [
  ...["-e", "on run argv"],
  ...["-e", "display notification (item 1 of argv) with title (item 2 of argv)"],
  ...["-e", "end run"],
];

/** Resolves to the reason of a failure, without the address: it works like a password. */
async function postNotice(address: string, notice: Notice): Promise<string | undefined> {
  const url = new URL(address);
  const headers: Record<string, string> = { "content-type": "application/json", "user-agent": "ralph" };
  // `fetch` itself refuses `https://user:password@host`.
  const words = [url.username, url.password].map(decodeURIComponent).join(":");
  if (words !== ":") headers["authorization"] = `Basic ${Buffer.from(words).toString("base64")}`;
  Object.assign(url, { username: "", password: "" });
  try {
    const body = JSON.stringify(notice);
    const signal = AbortSignal.timeout(SEND_MS);
    // A redirect would turn most posts into a question without a body.
    const response = await fetch(url, { method: "POST", headers, body, signal, redirect: "manual" });
    await response.body?.cancel();
    return response.ok ? undefined : `the server answered ${response.status}`;
  } catch (error) {
    if (!(error instanceof Error)) return "it failed";
    if (error.name === "TimeoutError") return `no answer within ${SEND_MS / 1000}s`;
    return `cannot reach it (${systemErrorCode(error.cause) ?? "no connection"})`;
  }
}
