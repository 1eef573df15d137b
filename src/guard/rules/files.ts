import { dirname } from "node:path";
import { hasFlag, plainArgs, valuesOf } from "../args.js";
import { type Call, isUnknown, UNKNOWN } from "../call.js";
import { entryOf } from "../entry.js";
import { type Judged, refuse, warn } from "../finding.js";
import { findRoot } from "../output.js";
import { followLinks, hasPattern, isInside, resolvePath } from "../paths.js";
import type { Rule } from "./rule.js";

/** Removing what is not the project's own. */
export const files: Rule = {
  category: "files",
  judge: (call) => entryOf(JUDGES, isRemoveItem(call.program) ? "remove-item" : call.program)?.(call),
};

/** PowerShell takes its names in any case. */
function isRemoveItem(program: string): boolean {
  return program.toLowerCase() === "remove-item";
}

const JUDGES: Record<string, (call: Call) => Judged | undefined> = {
  rm: removal,
  rmdir: removal,
  unlink: removal,
  rimraf: (call) => tree(plainArgs(call.args), call),
  del: (call) => tree(plainArgs(call.args), call),
  "del-cli": (call) => tree(plainArgs(call.args), call),
  "trash-cli": (call) => tree(plainArgs(call.args), call),
  "trash-put": (call) => tree(plainArgs(call.args), call),
  "remove-item": (call) => tree(plainArgs(call.args), call),
  trash: removal,
  srm: () => refuse("it destroys files so that nothing brings them back"),
  shred: () => refuse("it destroys files so that nothing brings them back"),
  wipe: () => refuse("it destroys files so that nothing brings them back"),
  wipefs: () => refuse("it wipes file systems"),
  truncate: (call) => emptied(call),
  mv: moved,
  find: found,
  fd: found,
  rsync: (call) =>
    call.args.some((arg) => arg.startsWith("--del")) ? tree(plainArgs(call.args).slice(-1), call) : undefined,
  tar: (call) =>
    hasFlag(call.args, "", "--remove-files") ? tree(plainArgs(call.args, ["-f", "-C"]), call) : undefined,
  chmod: widened,
  chown: widened,
};

function removal(call: Call): Judged | undefined {
  const targets = plainArgs(call.args);
  if (hasFlag(call.args, "", "--no-preserve-root")) return refuse("it would remove the root folder");
  if (hasFlag(call.args, "rR", "--recursive")) return tree(targets, call);
  return targets.map((target) => single(target, call)).find((judged) => judged !== undefined);
}

/** Whole trees: the root, a home, the project itself, what lies around it. */
function tree(targets: string[], call: Call): Judged | undefined {
  const judged = targets.map((target) => judgeTree(target, call));
  return judged.find((one) => one?.level === "refuse") ?? judged.find((one) => one !== undefined);
}

function judgeTree(target: string, call: Call): Judged | undefined {
  if (target === UNKNOWN) return warn("what it removes is not known");
  if (new RegExp(`^${UNKNOWN}+/+[.*]*$`).test(target))
    return refuse("it removes the root folder if a variable is empty");
  const resolved = resolvePath(target, call.scope);
  if (/^\.\.?(\/\.\.)*$/.test(resolved))
    return refuse(`${target.replaceAll(UNKNOWN, "…")} leads out of what is known`);
  return why(resolved, target, call) ?? why(followLinks(resolved), target, call);
}

function why(path: string, target: string, call: Call): Judged | undefined {
  const { home, workspace } = call.scope.place;
  const folder = path.replace(new RegExp(`(/[*?.${UNKNOWN}]+)+$`), "") || "/";
  const isAll = folder !== path;
  if (folder !== workspace && isInside(folder, workspace) && !isInside(home, workspace)) return undefined;
  if (folder === "/" || isShort(path)) return refuse(`${target} is the root folder or a part of the system`);
  if (isUnknown(path) && isAll && folder === workspace) return undefined;
  if (folder === home || isInHome(folder, home))
    return refuse(`${target} is a home folder or all of a folder in it`);
  if (isInside(workspace, folder)) return refuse(`${target} is the project itself or a folder around it`);
  if (isInside(call.scope.cwd, folder) && !isInside(folder, workspace))
    return refuse(`${target} is the current folder`);
  return isBeside(folder, call) ? refuse(`${target} lies beside the project`) : undefined;
}

/** Another project's files, however deep, except what is built or fetched again. */
function isBeside(folder: string, { scope }: Call): boolean {
  const { home, workspace } = scope.place;
  const around = dirname(workspace);
  if (TEMPORARY.test(folder) || isInside(folder, workspace)) return false;
  if (dirname(folder) === around) return true;
  const isFree = BUILT.test(folder) || (around === home && FREE_IN_HOME.test(folder.slice(home.length)));
  return around !== "/" && isInside(folder, around) && !isFree;
}

const FREE_IN_HOME = /^\/(\.|library\/|downloads\/|te?mp\/|snap\/|go\/)/i;

const BUILT =
  /\/(dist|build|out|target|node_modules|coverage|__pycache__|\.(next|nuxt|cache|turbo|pytest_cache|venv))$/;

const TEMPORARY = /^\/(private\/)?(tmp|var\/tmp|dev\/shm|var\/folders)(\/|$)/;

/** `/x` and what a pattern makes of it; other people's homes; a disk of its own. */
function isShort(path: string): boolean {
  if (!path.startsWith("/")) return false;
  const depth = path.split("/").length - 1;
  if (TEMPORARY.test(path)) return depth === 1 || /^\/(private|var)\/(tmp|var)$/.test(path);
  if (/^\/(home|Users|mnt|media|Volumes|Library|System)(\/|$)/i.test(path)) return depth <= 2;
  return depth === 1 || /^\/(etc|usr|bin|sbin|lib\w*|boot|var|dev|proc|sys)(\/|$)/.test(path);
}

const CACHES =
  /^\.(cache|npm|gradle|m2|cargo|rustup|pnpm-store|yarn|nuget|ivy2|cocoapods|bundle|local|vscode-server|bun|deno|expo|android|tmp)$/;

/** Folders straight in the home, except those that hold only what can be had again. */
function isInHome(folder: string, home: string): boolean {
  if (!isInside(folder, home)) return false;
  const [name = "", ...more] = folder.slice(home.length + 1).split("/");
  return more.length === 0 && !CACHES.test(name);
}

function single(target: string, call: Call): Judged | undefined {
  const path = resolvePath(target, call.scope);
  const isAllOfRoot = /^\/[^/]*$/.test(path) && (hasPattern(path) || isUnknown(path));
  if (isAllOfRoot || path === `${call.scope.place.home}/*`)
    return refuse(`${target} is the root folder or a home`);
  return undefined;
}

function emptied(call: Call): Judged | undefined {
  return tree(
    plainArgs(call.args, ["-s", "--size", "-r"]).filter((path) => path.startsWith("/etc")),
    call,
  );
}

function moved(call: Call): Judged | undefined {
  const named = valuesOf(call.args, "-t", "--target-directory").slice(0, 1);
  const targets = [...plainArgs(call.args, ["-t", "--target-directory", "-S"]), ...named];
  if (targets.at(-1) === "/dev/null") return refuse("what is moved to /dev/null is lost");
  const { home, workspace } = call.scope.place;
  const staysBeside = isInside(resolvePath(targets.at(-1) ?? "", call.scope), dirname(workspace));
  const gone = targets.slice(0, -1).find((target) => {
    const path = resolvePath(target, call.scope);
    const folder = path.replace(/\/[*?.]+$/, "") || "/";
    return (
      isInside(home, folder) ||
      isInside(workspace, path) ||
      isShort(path) ||
      (isBeside(folder, call) && !staysBeside)
    );
  });
  return gone === undefined
    ? undefined
    : refuse(`${gone} is the project, lies beside it, or is a home or a part of the system`);
}

function found(call: Call): Judged | undefined {
  const { args, program } = call;
  const removes =
    args.includes("-delete") ||
    args.some(
      (arg, index) =>
        /^(-exec|-execdir|-ok|-okdir|-x|-X|--exec)$/.test(arg) &&
        /(^|\/)(rm|shred|unlink|rmdir|truncate|srm|wipe)$/.test(args[index + 1] ?? ""),
    );
  if (!removes) return undefined;
  const roots = program === "fd" ? plainArgs(args).slice(1, 2) : rootsOf(args);
  const isNamed = valuesOf(args, "-name", "-iname", "-mmin", "-mtime").some((value) => !/^\**$/.test(value));
  const isFree = (root: string): boolean =>
    isOwnTree(root, call) || (isNamed && TEMPORARY.test(resolvePath(root, call.scope)));
  const isChosen = args.some((arg) =>
    /^-(name|iname|path|regex|mtime|mmin|size|empty|newer|atime|ctime)/.test(arg),
  );
  return tree(isChosen ? roots.filter((root) => !isFree(root)) : roots, call);
}

/** The project and what is below: a choice by name is enough there. */
function isOwnTree(root: string, call: Call): boolean {
  const path = resolvePath(root, call.scope);
  return isInside(path, call.scope.place.workspace) || isInside(path, call.scope.place.cwd);
}

function rootsOf(args: string[]): string[] {
  const end = args.findIndex((arg, index) => /^[-(!]/.test(arg) && !/^-[HLPDO]/.test(arg) && index >= 0);
  const roots = plainArgs(end === -1 ? args : args.slice(0, end));
  return roots.length === 0 ? [findRoot(args)] : roots;
}

const LOCKS = /^[0-7]?[0-3][0-7]{2}$|^0{1,2}$|^([ugo]*[ua][ugo]*)?-[wxX]*r|^([ugo]*[ua][ugo]*)?=([wx,]|$)/;

function widened(call: Call): Judged | undefined {
  if (call.program === "chmod" && call.args.some((arg) => LOCKS.test(arg))) {
    const locked = tree(plainArgs(call.args), call);
    if (locked !== undefined) return locked;
  }
  if (!hasFlag(call.args, "R", "--recursive")) return undefined;
  const judged = tree(
    plainArgs(call.args)
      .slice(1)
      .filter((path) => !isOwnTree(path, call)),
    call,
  );
  return judged && { ...judged, category: "privileges" };
}
