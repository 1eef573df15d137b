import { hasFlag, plainArgs, valuesOf } from "../args.js";
import { type Call, UNKNOWN } from "../call.js";
import { entryOf } from "../entry.js";
import { type Judged, refuse, warn } from "../finding.js";
import { resolvePath } from "../paths.js";
import { gitCommand, settingsOf } from "../wrappers/git.js";
import { hostOf, isLocal } from "./hosts.js";
import { isElsewhere, isOtherRepository, OTHER_REPOSITORY } from "./repositories.js";
import type { Rule } from "./rule.js";

export const git: Rule = {
  category: "git",
  judge(call) {
    if (call.program === "git-filter-repo" || call.program === "bfg")
      return refuse("it rewrites the history");
    if (call.program !== "git") return undefined;
    const { verb, args, settings } = gitCommand(call.args);
    if (call.args.some((arg) => arg.startsWith("ext::")))
      return refuse("an address with ext:: runs a program");
    const cloned = verb === "clone" ? settingsOf(args, "-c", "--config") : [];
    const setting = [...settings, ...cloned].find(({ name, value }) => isSteering(name, value));
    if (setting !== undefined)
      return refuse(`the setting ${setting.name} makes git run programs or give away logins`);
    return inFolder(call, verb, args) ?? entryOf(VERBS, verb)?.(throughRemote(call, verb, args));
  },
};

/** What is done to another folder than the current one. */
function inFolder({ args: all, assignments, scope }: Call, verb: string, args: string[]): Judged | undefined {
  const front = all.slice(0, all.length - args.length);
  if (valuesOf(front, "--git-dir").some((folder) => isOtherRepository(folder, scope)))
    return refuse(OTHER_REPOSITORY);
  if (verb !== "clean" || !hasFlag(args, "f", "--force") || hasFlag(args, "n", "--dry-run")) return undefined;
  const trees = assignments.filter(({ name }) => name === "GIT_WORK_TREE").map(({ value }) => value);
  const folders = [...valuesOf(front, "-C", "--work-tree"), ...trees].map((folder) =>
    resolvePath(folder, scope),
  );
  return [...folders, ...(folders.length > 0 ? [] : [scope.cwd])].some((path) => isElsewhere(path, scope))
    ? refuse("it removes files outside of the project")
    : undefined;
}

/** A remote that the same command adds is its address. A project has no `origin` yet when one can be added. */
function throughRemote({ scope }: Call, verb: string, args: string[]): string[] {
  const [word = "", name = "", address = ""] = plainArgs(args, ["-t", "-m"]);
  if (verb === "remote" && /^(add|set-url)$/.test(word) && !(word === "add" && name === "origin"))
    scope.files.set(`.git/remotes/${name}`, { text: address, from: ["git remote"] });
  if (verb !== "push") return args;
  return args.map((arg) => scope.files.get(`.git/remotes/${arg}`)?.text ?? arg);
}

const MAIN =
  /^(refs\/heads\/)?(main|master|trunk|develop|development|dev|production|prod|staging|stable|release([/-].*)?|gh-pages|HEAD)$/i;

const VERBS: Record<string, (args: string[]) => Judged | undefined> = {
  push: pushed,
  branch: (args) =>
    hasFlag(args, "D") || (hasFlag(args, "d", "--delete") && hasFlag(args, "f", "--force"))
      ? removedBranch(plainArgs(args))
      : undefined,
  reset: (args) =>
    hasFlag(args, "", "--hard", "--merge") ? warn("what is not committed is lost") : undefined,
  clean: (args) =>
    hasFlag(args, "f", "--force") && !hasFlag(args, "n", "--dry-run")
      ? warn("files that git does not know are lost")
      : undefined,
  checkout: (args) =>
    hasFlag(args, "f", "--force") || isAllFiles(args) ? warn("what is not committed is lost") : undefined,
  restore: (args) =>
    isAllFiles(args) && !hasFlag(args, "S", "--staged") ? warn("what is not committed is lost") : undefined,
  switch: (args) =>
    hasFlag(args, "f", "--force", "--discard-changes") ? warn("what is not committed is lost") : undefined,
  stash: (args) => (/^(drop|clear)$/.test(args[0] ?? "") ? warn("what was put aside is lost") : undefined),
  "filter-branch": () => refuse("it rewrites the history"),
  "filter-repo": () => refuse("it rewrites the history"),
  "update-ref": (args) =>
    hasFlag(args, "d") || args.includes("--stdin") || /^0+$/.test(plainArgs(args, ["-m"])[1] ?? "")
      ? refuse("it removes branches behind git's back")
      : undefined,
  reflog: (args) =>
    /^(expire|delete)$/.test(args[0] ?? "") ? refuse("it removes the way back to lost commits") : undefined,
  gc: (args) =>
    args.some((arg) => /^--prune=(now|all)/.test(arg))
      ? warn("lost commits cannot be brought back after it")
      : undefined,
  prune: () => warn("lost commits cannot be brought back after it"),
  worktree: (args) =>
    args[0] === "remove" && hasFlag(args, "f", "--force")
      ? warn("what is not committed there is lost")
      : undefined,
  remote: (args) =>
    /^(set-url|remove|rm)$/.test(args[0] ?? "")
      ? warn("it changes where the project is pushed to")
      : undefined,
  config: configured,
  replace: () => warn("it replaces commits"),
};

function pushed(args: string[]): Judged | undefined {
  if (hasFlag(args, "n", "--dry-run")) return undefined;
  if (hasFlag(args, "f", "--force", "--mirror", "--prune"))
    return refuse("it overwrites what others have pushed");
  const [remote = "", ...refs] = plainArgs(args, ["-o", "--push-option", "--receive-pack", "--repo"]);
  if (args.some((arg) => /^--(receive-pack|exec)/.test(arg)))
    return refuse("it runs a program on the other side");
  if (refs.some((ref) => ref.startsWith("+"))) return refuse("a + overwrites what others have pushed");
  const isDeleting = hasFlag(args, "d", "--delete");
  const gone = refs.filter((ref) => isDeleting || ref.startsWith(":")).map((ref) => ref.replace(/^:/, ""));
  if (gone.some((ref) => MAIN.test(ref) || ref.includes(UNKNOWN)))
    return refuse("it removes a branch that others work on");
  if (/^(https?|git|ssh):\/\/|^[\w.-]+@[\w.-]+:/.test(remote) && !isLocal(hostOf(remote)))
    return {
      ...refuse("it pushes to an address that is no remote of the project"),
      category: "exfiltration",
    };
  if (hasFlag(args, "", "--force-with-lease", "--force-if-includes"))
    return refs.some((ref) => MAIN.test(ref.split(":").at(-1) ?? ""))
      ? refuse("it overwrites what others have pushed")
      : warn("it overwrites what was pushed");
  return gone.length > 0 ? warn("it removes a branch for everybody") : undefined;
}

function removedBranch(names: string[]): Judged | undefined {
  return names.some((name) => MAIN.test(name) || name.includes("*"))
    ? refuse("it removes a main branch")
    : undefined;
}

function isAllFiles(args: string[]): boolean {
  return (
    args.some((arg) => /^(\.|:\/|\*|\.\/|:\(top\))$/.test(arg)) &&
    !args.some((arg) => /^(-p|--patch|--ours|--theirs)$/.test(arg))
  );
}

const READS = /^(--get|--get-all|--get-regexp|--get-urlmatch|--list|-l|get|list|--show-origin|--name-only)$/;

function configured(args: string[]): Judged | undefined {
  if (args.some((arg) => READS.test(arg))) return undefined;
  if (args.some((arg) => arg === "--edit" || arg === "-e" || arg === "edit")) return undefined;
  const words = plainArgs(args, ["-f", "--file", "--type", "--blob"]).filter(
    (word, index) => !(index === 0 && /^(set|unset|add|remove-section)$/.test(word)),
  );
  const [name = "", value] = words;
  const removes = args.some((arg) =>
    /^(--unset|--unset-all|--remove-section|unset|remove-section)$/.test(arg),
  );
  if (value === undefined && !removes) return undefined;
  if (args.includes("--system")) return refuse("it changes git for everybody on this machine");
  return isSteering(name, value ?? "")
    ? refuse(`the setting ${name} makes git run programs or give away logins`)
    : undefined;
}

/** Settings of git that run programs, give away logins or lead elsewhere. */
export function isSteering(name: string, value: string): boolean {
  if (/^alias\./i.test(name)) return value.startsWith("!") || value.includes(UNKNOWN);
  if (/^(core\.pager|pager\.\w+|core\.editor|sequence\.editor)$/i.test(name))
    return !/^(|cat|less( -\w+)?|delta|true|:|vim?|nano|code --wait|false)$/.test(value);
  return STEERING.test(name) || (/^http\..*sslverify$/i.test(name) && /^(false|0|no)$/i.test(value));
}

const STEERING =
  /^(credential\b.*|core\.(hookspath|sshcommand|fsmonitor|gitproxy|askpass|attributesfile|worktree)|url\..*\.(insteadof|pushinsteadof)|http\..*(proxy|extraheader|cookiefile)|filter\..*|diff\..*\.?(external|command|textconv)|merge\..*\.driver|gpg\..*program|gpg\.program|init\.templatedir|include(if)?\..*|remote\..*\.(uploadpack|receivepack|proxy)|protocol\..*allow|mergetool\..*cmd|difftool\..*cmd|uploadpack\..*|sendemail\..*|safe\.directory\*)$/i;
