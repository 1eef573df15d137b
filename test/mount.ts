import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { atEnd } from "./kit.js";

/** A file system of its own, which can be full or read-only; gone with the test. Only root can do this. */
export function mount(folder: string, options: string): string {
  mkdirSync(folder, { recursive: true });
  execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder]);
  atEnd(() => execFileSync("umount", ["-l", folder]));
  return folder;
}
