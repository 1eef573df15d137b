import { createHash } from "node:crypto";
import { quoteWord } from "../words.js";
import type { LoopHook, LoopHooks } from "./agent.js";

/** Codex names the hooks that come with `-c` as if they stood in this file. */
const SOURCE = "/<session-flags>/config.toml";

const LABELS: Record<LoopHook["event"], string> = {
  Stop: "stop",
  PreToolUse: "pre_tool_use",
  PostToolUse: "post_tool_use",
};

/** In the help of releases that ask whether a hook is trusted. */
export const KNOWS_TRUST = "hook-trust";

/**
 * The flags that set up the loop's hooks, and none if the user sets up hooks the same way. Each is trusted by
 * its digest: the flag that trusts them all would also run what lies in the repository.
 */
export function hookFlags(own: string[], wiring: LoopHooks | undefined): string[] {
  if (wiring === undefined || own.some((flag) => /^(-c|--config)?=?hooks[.=]/.test(flag))) return [];
  const settings = wiring.hooks.map(
    (hook) =>
      `hooks.${hook.event}=[{hooks=[{type="command",command=${text(lineOf(hook))},timeout=${hook.timeoutSeconds}}]}]`,
  );
  const states = wiring.hooks.map(
    (hook) => `${text(`${SOURCE}:${LABELS[hook.event]}:0:0`)}={trusted_hash=${text(digestOf(hook))}}`,
  );
  return [...settings, `hooks.state={${states.join(",")}}`].flatMap((setting) => ["-c", setting]);
}

function lineOf({ command }: LoopHook): string {
  return command.map(quoteWord).join(" ");
}

/** As Codex takes it: over the hook in JSON, with its keys in order. */
function digestOf(hook: LoopHook): string {
  const handler = { async: false, command: lineOf(hook), timeout: hook.timeoutSeconds, type: "command" };
  const identity = JSON.stringify({ event_name: LABELS[hook.event], hooks: [handler] });
  return `sha256:${createHash("sha256").update(identity).digest("hex")}`;
}

/** A string of JSON is one of TOML, too. */
function text(value: string): string {
  return JSON.stringify(value);
}
