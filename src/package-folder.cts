import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

export const PACKAGE_FOLDER = dirname(__dirname);

export const PROGRAM = join(PACKAGE_FOLDER, "bin/ralph.js");

export function inPackage(path: string): string {
  return join(PACKAGE_FOLDER, path);
}

/** ralph's version, and the releases of Node that it runs on, such as `>=20.19`. */
export function manifest(): { version: string; engines: { node: string } } {
  return JSON.parse(readFileSync(inPackage("package.json"), "utf8")) as ReturnType<typeof manifest>;
}
