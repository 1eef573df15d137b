import { existsSync, lstatSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { RalphError } from "../errors.js";

/** What objects hold is named by its content, and never written twice. */
const OBJECTS = "objects";

/** Links and pipes in folders of git. git makes none, and what it writes goes where they lead. */
export function linksIn(folders: string[]): string[] {
  return folders.flatMap((folder) => (existsSync(folder) ? below(folder) : []));
}

function below(folder: string): string[] {
  if (basename(folder) === OBJECTS) return linksAmong(folder);
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isSymbolicLink() || entry.isFIFO()) return [path];
    return entry.isDirectory() ? below(path) : [];
  });
}

function linksAmong(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isSymbolicLink()).map(({ name }) => join(folder, name));
}

/** git outside would write there for the agent: what is new is taken away, and the run ends. */
export function insistOnNoLinks(folders: string[], before: string[]): void {
  const planted = linksIn(folders).filter((path) => !before.includes(path));
  const [first] = planted;
  if (first === undefined) return;
  const where = lstatSync(first).isSymbolicLink() ? `a link to ${readlinkSync(first)}` : "a pipe";
  for (const path of planted) rmSync(path, { force: true });
  throw new RalphError(`the agent has made ${first} ${where}, where git outside of the sandbox would write`, {
    code: "sandbox_broken",
    hint: "ralph has removed it: look at what else the agent did",
  });
}
