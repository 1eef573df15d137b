import type { Judged } from "./finding.js";
import { findListed, type Listed } from "./listed-paths.js";
import { followLinks, isInside, resolvePath } from "./paths.js";
import { PROTECTED } from "./protected-list.js";
import type { Scope } from "./shell/scope.js";

type Where = Pick<Scope, "cwd" | "place">;

/** Places below the protected ones that anybody may write to. */
const FREE: Listed[] = [
  {
    patterns: `
      /var/tmp/** /private/var/tmp/** /private/var/folders/** /var/folders/** /usr/local/share/.cache/**
    `,
  },
];

/** Why a path must not be written to, if it must not. */
export function protection(path: string, scope: Where): Judged | undefined {
  const named = resolvePath(path, scope);
  const real = /^\/dev\/(fd|std)/.test(named) ? named : followLinks(named);
  return (
    own(named, scope) ??
    listed(named, path, scope) ??
    (real === named ? undefined : (own(real, scope) ?? listed(real, path, scope)))
  );
}

function listed(resolved: string, path: string, scope: Where): Judged | undefined {
  const device = deviceOf(resolved);
  if (device !== undefined)
    return { level: "refuse", category: "disks", reason: `it writes to ${path}, ${device}` };
  const { workspace, home } = scope.place;
  // The history of other repositories is theirs.
  const isOwnHistory = isInside(resolved, `${workspace}/.git`);
  const found = findListed(isOwnHistory ? PROTECTED : ELSEWHERE, resolved, home);
  if (found === undefined || isIn(FREE, resolved)) return undefined;
  const isOfSystem = found.what === "it belongs to the system";
  if (isOfSystem && (isBelow(resolved, workspace) || isBelow(resolved, home))) return undefined;
  return { level: "refuse", category: found.category, reason: `it writes to ${path}: ${found.what}` };
}

const ELSEWHERE = PROTECTED.filter(({ category }) => category !== "git");

/** A home or a project may lie in a folder of the system, as /root and /var/www/app do. It is none itself. */
function isBelow(path: string, folder: string): boolean {
  return path !== folder && isInside(path, folder) && folder.split("/").length > (folder === "/root" ? 1 : 2);
}

/** What steers ralph is out of the agent's hands, whatever is allowed. */
function own(resolved: string, scope: Where): Judged | undefined {
  const { workspace, ralphHome, ralphItself } = scope.place;
  // A run's own worktree lies among ralph's files.
  const isInProject = isInside(resolved, workspace);
  const path = isInProject ? resolved.slice(workspace.length) : resolved;
  const isOwn =
    isIn(OWN, path) ||
    (!isInProject && [ralphHome, ralphItself].some((folder) => isInside(resolved, folder)));
  if (!isOwn) return undefined;
  return {
    level: "refuse",
    category: "protected-paths",
    final: true,
    reason: "it writes to ralph's own files",
  };
}

const OWN: Listed[] = [
  { patterns: "**/.ralph/** **/.ralph-active **/ralph/allowed-commands.txt **/node_modules/ralph-loop/**" },
];

function isIn(groups: Listed[], path: string): boolean {
  return findListed(groups, path, "") !== undefined;
}

const DEVICES =
  /^\/dev\/(?!(?:null|zero|full|random|urandom|stdin|stdout|stderr|tty|ptmx)$|(?:fd|shm|pts)(?:\/|$)|(?:tcp|udp)\/)/;

function deviceOf(path: string): string | undefined {
  return DEVICES.test(path) ? "a device" : undefined;
}
