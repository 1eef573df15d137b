import type { NotifySettings } from "../../settings/schema.js";
import type { View } from "../view.js";
import { type CommandPlace, tellCommand } from "./command.js";
import { desktopProgram, showOnDesktop } from "./desktop.js";
import { createNotices, type Notice } from "./notice.js";
import { postNotice } from "./webhook.js";

export interface Notifying extends CommandPlace {
  settings: NotifySettings;
  /** The worker's name. */
  name: string | null;
  /** What the run has cost so far. */
  costUsd: number | null;
  /** Said where somebody wants to know every step. */
  verbose: boolean;
}

/** How long the end of a run may wait for each of them; all are sent at the same time. */
const SEND_MS = 5000;

/** The same view; what is worth it is also told to somebody who is not looking. */
export function notifyingView(view: View, notifying: Notifying): View {
  const noticeOf = createNotices(notifying.name, notifying.costUsd);
  const { on } = notifying.settings;
  const atWork = new Set<Promise<void>>();
  const send = (notice: Notice): void => {
    const sent = sendAll(notice, notifying, view.note).finally(() => atWork.delete(sent));
    atWork.add(sent);
  };
  return {
    ...view,
    event(event, state) {
      const shown = view.event(event, state);
      const notice = noticeOf(event);
      if (notice !== undefined && (on === undefined || on.includes(notice.event))) send(notice);
      if (event.type !== "run.finished" || atWork.size === 0) return shown;
      return Promise.all([shown, ...atWork]).then(() => {});
    },
  };
}

type Note = View["note"];

async function sendAll(notice: Notice, notifying: Notifying, note: Note): Promise<void> {
  const { desktop = false, webhook, command } = notifying.settings;
  await Promise.all([
    warnOf("webhook", webhook && postNotice(webhook, notice, SEND_MS), note),
    warnOf("command", command && tellCommand(command, notice, SEND_MS, notifying), note),
    warnOf("desktop", desktop && onDesktop(notice, notifying, note), note),
  ]);
}

async function warnOf(
  way: string,
  sent: Promise<string | undefined> | string | false | undefined,
  note: Note,
): Promise<void> {
  const why = await sent;
  if (why) note(`ralph: warning: notify.${way} failed: ${why}`);
}

/** Settings are shared: that a machine has no desktop is not worth a warning each time. */
async function onDesktop(
  notice: Notice,
  { env, verbose, redact }: Notifying,
  note: Note,
): Promise<string | undefined> {
  const program = desktopProgram(env);
  if (program !== undefined) {
    const why = await showOnDesktop(program, notice, SEND_MS, env);
    return why && redact(why);
  }
  if (verbose) note("[ralph] No notification on the desktop: notify-send or osascript is not there");
  return undefined;
}
