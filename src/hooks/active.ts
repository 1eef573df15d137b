import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { systemErrorCode } from "../errors.js";
import { textAt } from "../workspace/content.js";
import { ACTIVE_FILE } from "../workspace/runtime.js";
import { isObject } from "./hook.cjs";

/** The folder with `.ralph-active`: this one, or one above it in the same repository. */
export function findActive(folder: string): string | undefined {
  // A folder of that name only keeps its place, in a sandbox.
  if (statSync(join(folder, ACTIVE_FILE), { throwIfNoEntry: false })?.isFile())
    return isLeftBehind(folder) ? undefined : folder;
  const above = dirname(folder);
  return above === folder || existsSync(join(folder, ".git")) ? undefined : findActive(above);
}

/** The loop that wrote it is gone: it was killed, or the machine was. */
function isLeftBehind(folder: string): boolean {
  const { pid } = objectIn(textAt(join(folder, ACTIVE_FILE)) ?? "");
  if (!Number.isSafeInteger(pid) || Number(pid) <= 0 || Number(pid) > lastPid()) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return systemErrorCode(error) === "ESRCH";
  }
}

/** A number that no process of this machine has says nothing of one. */
function lastPid(): number {
  try {
    return Number(readFileSync("/proc/sys/kernel/pid_max", "utf8"));
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

function objectIn(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
