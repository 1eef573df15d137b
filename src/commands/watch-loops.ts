import { fileURLToPath } from "node:url";
import { RalphError } from "../errors.js";
import { capture } from "../process/capture.js";
import { interactive } from "../process/interactive.js";
import type { Command } from "../process/run.js";
import { ralphHome } from "../state/home.js";
import type { WatchAction } from "../views/watch/press.js";
import { glances } from "../workers/look.js";
import { type WatchFlags, watch } from "./watch.js";

const MAIN = fileURLToPath(new URL("../main.js", import.meta.url));

/** `ralph watch` over what is on the disk; what a key asks for, the command of that name does. */
export function watchLoops(flags: WatchFlags): Promise<number> {
  return watch(flags, { look: () => glances(ralphHome(), () => {}), act });
}

async function act(action: WatchAction, name: string): Promise<string> {
  if (action === "attach") return await handOver(["attach", name]);
  if (action === "logs") return await handOver(["logs", name, "--follow"]);
  const { ok, stdout, stderr } = await capture(ralph([action, name]));
  const said = (stdout || stderr).trim().replace(/^ralph: \w+: /, "");
  if (ok) return said;
  throw new RalphError(said, { code: "action_failed" });
}

function ralph(args: string[]): Command {
  return { file: process.execPath, args: [MAIN, ...args], cwd: process.cwd(), env: process.env };
}

async function handOver(args: string[]): Promise<string> {
  const { exitCode, signal } = await interactive(ralph(args));
  const isLeft = exitCode === 0 || exitCode === 130 || signal === "SIGINT";
  return isLeft ? "" : `ralph ${args.join(" ")} ended with exit ${exitCode}`;
}
