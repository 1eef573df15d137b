import { dirname } from "node:path";
import { type Call, hasFlag, plainArgs, valuesOf } from "./call.js";
import { type Risk, refuse, warn } from "./finding.js";
import { followLinks, isInside, resolvePath, TEMPORARY } from "./paths.js";
import { isUnknown, UNKNOWN } from "./text.js";
import { removedPaths } from "./writes.js";

/** Why a command must not remove a path: a root, a home, the project, or something around or beside it. */
export function removalIssue(call: Call): Risk | undefined {
  const { program, args, plain, scope } = call;
  if (program === "find") return worst(foundPaths(call), call);
  const gone = removedPaths(call);
  if (program === "mv") return movedIssue(gone, call);
  if (!/^(chmod|chown|chgrp)$/.test(program)) return worst(gone, call);
  // Permissions of whole trees outside the project.
  const isOutside = (path: string) => !isInside(resolvePath(path, scope), scope.site.workspace);
  const issue = hasFlag(args, "-R", "--recursive") && worst(plain.slice(1).filter(isOutside), call);
  return issue ? { ...issue, category: "privileges" } : undefined;
}

function worst(targets: string[], call: Call): Risk | undefined {
  const issues = targets.map((target) => treeIssue(target, call));
  return issues.find((issue) => issue?.level === "refuse") ?? issues.find((issue) => issue !== undefined);
}

function treeIssue(target: string, call: Call): Risk | undefined {
  if (target === UNKNOWN) return warn("files", "what it removes is not known");
  if (/^\uE0FF+\/+[.*]*$/.test(target))
    return refuse("files", "it removes the root folder if a variable is empty");
  const resolved = resolvePath(target, call.scope);
  if (/^\.\.?(\/\.\.)*$/.test(resolved)) return refuse("files", "it leads out of what is known");
  const reason = why(resolved, call) ?? why(followLinks(resolved), call);
  return reason === undefined ? undefined : refuse("files", `${target} ${reason}`);
}

function why(path: string, { scope }: Call): string | undefined {
  const { home, workspace } = scope.site;
  const folder = path.replace(/(\/[*?.\uE0FF]+)+$/, "") || "/";
  if (folder !== workspace && isInside(folder, workspace) && !isInside(home, workspace)) return undefined;
  if (folder === "/" || isShort(path)) return "is the root folder or a part of the system";
  if (isUnknown(path) && folder !== path && folder === workspace) return undefined;
  if (folder === home || isInHome(folder, home)) return "is a home folder or all of a folder in it";
  if (isInside(workspace, folder)) return "is the project itself or a folder around it";
  if (isInside(scope.cwd, folder) && !isInside(folder, workspace)) return "is the current folder";
  return isBeside(folder, scope.site) ? "lies beside the project" : undefined;
}

/** Another project's files, at any depth, except what is built or downloaded again. */
function isBeside(folder: string, { home, workspace }: Call["scope"]["site"]): boolean {
  const around = dirname(workspace);
  if (TEMPORARY.test(folder) || isInside(folder, workspace)) return false;
  if (dirname(folder) === around) return true;
  const isFree = BUILT.test(folder) || (around === home && FREE_IN_HOME.test(folder.slice(home.length)));
  return around !== "/" && isInside(folder, around) && !isFree;
}

const FREE_IN_HOME = /^\/(\.|library\/|downloads\/|te?mp\/|snap\/|go\/)/i;
const BUILT =
  /\/(dist|build|out|target|node_modules|coverage|__pycache__|\.(next|nuxt|cache|turbo|pytest_cache|venv))$/;

/** `/x`, or a pattern that matches it; other people's homes; a disk of its own. */
function isShort(path: string): boolean {
  if (!path.startsWith("/")) return false;
  const depth = path.split("/").length - 1;
  if (TEMPORARY.test(path)) return depth === 1 || /^\/(private|var)\/(tmp|var)$/.test(path);
  if (/^\/(home|Users|mnt|media|Volumes|Library|System)(\/|$)/i.test(path)) return depth <= 2;
  return depth === 1 || /^\/(etc|usr|bin|sbin|lib\w*|boot|var|dev|proc|sys)(\/|$)/.test(path);
}

const CACHES =
  /^\.(cache|npm|gradle|m2|cargo|rustup|pnpm-store|yarn|nuget|ivy2|cocoapods|bundle|local|vscode-server|bun|deno|expo|android|tmp)$/;

/** Folders directly in the home, except those whose content can be downloaded again. */
function isInHome(folder: string, home: string): boolean {
  if (!isInside(folder, home)) return false;
  const [name = "", ...more] = folder.slice(home.length + 1).split("/");
  return more.length === 0 && !CACHES.test(name);
}

function movedIssue(sources: string[], { plain, args, scope }: Call): Risk | undefined {
  const { home, workspace } = scope.site;
  const target = resolvePath(valuesOf(args, "-t", "--target-directory")[0] ?? plain.at(-1) ?? "", scope);
  const staysBeside = isInside(target, dirname(workspace));
  const gone = sources.find((source) => {
    const path = resolvePath(source, scope);
    const folder = path.replace(/\/[*?.]+$/, "") || "/";
    const isAround = isInside(home, folder) || isInside(workspace, path) || isShort(path);
    return isAround || (isBeside(folder, scope.site) && !staysBeside);
  });
  return gone === undefined
    ? undefined
    : refuse("files", `${gone} is the project, lies beside it, or is a home or a part of the system`);
}

/** What `find` would remove: in the project and in temporary folders, any selection is enough. */
function foundPaths({ args, scope }: Call): string[] {
  const command = args[args.findIndex((arg) => /^-(exec|execdir|ok|okdir)$/.test(arg)) + 1] ?? "";
  if (!args.includes("-delete") && !/(^|\/)(rm|shred|unlink|rmdir|truncate)$/.test(command)) return [];
  const end = args.findIndex((arg) => /^[-(!]/.test(arg) && !/^-[HLPDO]/.test(arg));
  const given = plainArgs(end === -1 ? args : args.slice(0, end));
  const roots = given.length > 0 ? given : ["."];
  if (!args.some((arg) => CHOICE.test(arg))) return roots;
  const isNamed = valuesOf(args, "-name", "-iname", "-mmin", "-mtime").some((value) => !/^\**$/.test(value));
  return roots.filter((root) => {
    const path = resolvePath(root, scope);
    return !isInside(path, scope.site.workspace) && !(isNamed && TEMPORARY.test(path));
  });
}

const CHOICE = /^-(name|iname|path|regex|mtime|mmin|size|empty|newer|atime|ctime)/;
