import { dirname, join } from "node:path";

/** Where ralph itself is. */
export const PACKAGE_FOLDER = dirname(__dirname);

/** The program that this process runs. */
export const PROGRAM = join(PACKAGE_FOLDER, "bin/ralph.js");

/** A file that comes with ralph. */
export function inPackage(path: string): string {
  return join(PACKAGE_FOLDER, path);
}
