import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Patterns } from "../../patterns.js";
import { git, repositoryRoot } from "../../workspace/git.js";
import { isWithin, type Seen } from "./look.js";

/** Files that git ignores are caches and the like, unless a pattern is exactly their name. */
export async function ignoredFiles(
  seen: Iterable<Seen>,
  patterns: Patterns,
  workspace: string,
): Promise<Set<string>> {
  const asked = inWorkspace(seen, patterns, workspace);
  return namedBy(workspace, ["check-ignore", "--stdin", "-z"], workspace, asked);
}

/** The same by rules that were kept: an agent can write rules, too. */
export async function ignoredBefore(
  seen: Iterable<Seen>,
  patterns: Patterns,
  workspace: string,
  rules: string,
): Promise<Set<string>> {
  const root = repositoryRoot(workspace);
  if (root === undefined || !existsSync(rules)) return new Set();
  const asked = inWorkspace(seen, patterns, workspace);
  const args = ["-c", "core.excludesFile=/dev/null", "check-ignore", "--no-index", "--stdin", "-z"];
  return namedBy(rules, args, root, asked);
}

function inWorkspace(seen: Iterable<Seen>, patterns: Patterns, workspace: string): string[] {
  const asked = [...seen].filter(
    ({ shown, real }) => !patterns.name(shown) && real === join(workspace, shown),
  );
  return asked.map(({ real }) => real);
}

/** Which of the files git names, asked in a folder that stands for `root`. */
async function namedBy(cwd: string, args: string[], root: string, files: string[]): Promise<Set<string>> {
  if (files.length === 0) return new Set();
  const stdin = files.map((file) => `${relative(root, file)}\0`).join("");
  const { stdout } = await git(cwd, args, { stdin });
  const names = stdout.split("\0").filter(Boolean);
  return new Set(names.map((name) => join(root, name)));
}

const PRIVATE = { recursive: true, mode: 0o700 } as const;

/** Keeps the rules for these folders as they are now, in a repository that holds nothing else. */
export async function keepRules(folders: Iterable<string>, workspace: string, rules: string): Promise<void> {
  const root = repositoryRoot(workspace);
  if (root === undefined) return;
  mkdirSync(rules, PRIVATE);
  const shared = await sharedRules(workspace);
  await git(rules, ["init", "--quiet", "--template=", "--shared=0600"]);
  mkdirSync(join(rules, ".git/info"), PRIVATE);
  writeFileSync(join(rules, ".git/info/exclude"), shared, { mode: 0o600 });
  for (const folder of withFoldersAbove([workspace, ...folders], root)) {
    const [from, to] = [folder, join(rules, relative(root, folder))].map((one) => join(one, ".gitignore"));
    if (from === undefined || to === undefined || !existsSync(from)) continue;
    mkdirSync(dirname(to), PRIVATE);
    copyFileSync(from, to);
    chmodSync(to, 0o600);
  }
}

function withFoldersAbove(folders: Iterable<string>, root: string): Set<string> {
  const all = new Set([root]);
  for (const folder of folders)
    for (let above = folder; isWithin(above, root) && !all.has(above); above = dirname(above)) all.add(above);
  return all;
}

/** The user's own rules, then those of the repository, which count for more. */
async function sharedRules(workspace: string): Promise<string> {
  const own = await git(workspace, ["config", "--path", "core.excludesFile"]);
  const ofRepository = await git(workspace, [
    "rev-parse",
    "--path-format=absolute",
    "--git-path",
    "info/exclude",
  ]);
  const { XDG_CONFIG_HOME, HOME = "" } = process.env;
  const usual = join(XDG_CONFIG_HOME || join(HOME, ".config"), "git/ignore");
  const files = [own.ok ? firstLine(own.stdout) : usual, firstLine(ofRepository.stdout)];
  return files.map((file) => (existsSync(file) ? readFileSync(file, "utf8") : "")).join("\n");
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
