import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";

export type Found =
  | { status: "found"; path: string }
  | { status: "not_found" }
  | { status: "not_executable"; path: string };

/** Looks a program up as the shell would: a name on PATH, anything with a slash as a path. */
export function which(program: string, cwd: string, path = process.env["PATH"] ?? ""): Found {
  if (program === "") return { status: "not_found" };
  if (program.includes("/")) return examine(isAbsolute(program) ? program : resolve(cwd, program));
  let blocked: Found | undefined;
  for (const folder of path.split(delimiter).filter(Boolean)) {
    const found = examine(join(folder, program));
    if (found.status === "found") return found;
    if (found.status === "not_executable") blocked ??= found;
  }
  return blocked ?? { status: "not_found" };
}

function examine(path: string): Found {
  try {
    if (!statSync(path).isFile()) return { status: "not_found" };
  } catch {
    return { status: "not_found" };
  }
  try {
    accessSync(path, constants.X_OK);
    return { status: "found", path };
  } catch {
    return { status: "not_executable", path };
  }
}
