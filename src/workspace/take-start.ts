import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { git } from "./git.js";
import { gitFolder } from "./git-folders.js";
import { indexNow } from "./index-flags.js";
import { dirtySubmodules, unknownRepositories } from "./inner-repositories.js";
import type { Start } from "./start.js";
import { operationIn } from "./unfinished.js";

/** How the repository stands now; `ignored` are the patterns to write to the file of that name. */
export async function takeStart(
  root: string,
  excludes: string,
  commits: boolean,
): Promise<{ start: Start; ignored: string }> {
  const run = (args: string[]) => git(root, args);
  const [index, settings] = await Promise.all([indexNow(root), settingsNow(root)]);
  const records = gitFolder(root);
  const { "core.excludesfile": _, ...others } = settings;
  const start: Start = {
    root,
    records,
    operation: operationIn(root)?.id ?? null,
    ...index,
    dirtyLinks: index.links.length === 0 ? [] : await dirtySubmodules(root),
    inner: commits ? await unknownRepositories(root, run) : [],
    settings: Object.entries(others),
    attributes: textOf(infoFile(records, "attributes")),
    excludes,
  };
  return { start, ignored: await excludePatterns(root, settings) };
}

/** What git ignores besides `.gitignore`: the user's own patterns, then those of the repository, which count for more. */
export async function excludePatterns(root: string, settings?: Record<string, string>): Promise<string> {
  const { "core.excludesfile": own = "" } = settings ?? (await settingsNow(root));
  return [resolve(root, own), infoFile(gitFolder(root), "exclude")].map(textOf).join("\n");
}

/** Those that can hide a change from git, with what holds where nobody has set them. */
const DEFAULTS = {
  "core.trustctime": "true",
  "core.checkstat": "default",
  "core.ignorestat": "false",
  "core.filemode": "true",
  "core.symlinks": "true",
  "core.ignorecase": "false",
};

async function settingsNow(root: string): Promise<Record<string, string>> {
  const names = [...Object.keys(DEFAULTS), "core.attributesfile", "core.excludesfile"];
  const pattern = `^(${names.map((name) => name.replace(".", "\\.")).join("|")})$`;
  const { stdout } = await git(root, ["config", "-z", "--get-regexp", pattern]);
  const entries = stdout
    .split("\0")
    .filter(Boolean)
    .map((entry): [string, string] => {
      const [name = "", ...value] = entry.split("\n");
      return [name, value.length === 0 ? "true" : value.join("\n").replace(/^~(?=\/)/, homedir())];
    });
  const usual = join(process.env["XDG_CONFIG_HOME"] || join(homedir(), ".config"), "git");
  const files = {
    "core.attributesfile": join(usual, "attributes"),
    "core.excludesfile": join(usual, "ignore"),
  };
  return { ...DEFAULTS, ...files, ...Object.fromEntries(entries) };
}

/** git keeps it with the repository, also for a worktree. */
export function infoFile(records: string, name: string): string {
  const common = textOf(join(records, "commondir")).trim();
  return join(resolve(records, common), "info", name);
}

/** Nothing where there is no file; a pipe would be waited for. */
export function textOf(path: string): string {
  try {
    return statSync(path).isFile() ? readFileSync(path, "utf8") : "";
  } catch {
    return "";
  }
}
