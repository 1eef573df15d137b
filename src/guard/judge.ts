import { dirname } from "node:path";
import { isAllowed } from "./allowed-commands.js";
import {
  type Call,
  callOf,
  hasFlag,
  innerScope,
  plainArgs,
  type Stream,
  takeStep,
  type Variable,
  valuesOf,
  variablesIn,
} from "./call.js";
import { type Risk, refuse, warn } from "./finding.js";
import { lookThrough } from "./inner.js";
import { followLinks, isInside, resolvePath, TEMPORARY } from "./paths.js";
import { protection } from "./protected.js";
import { issuesOf } from "./rows.js";
import { fedIssue, type Inner } from "./scripts.js";
import { readingIssue } from "./secrets.js";
import { removedPaths, writtenPaths } from "./sending.js";
import { printedBy, takeEffect } from "./shell/output.js";
import { runNode, runText } from "./shell/run.js";
import { isUnknown, namesIn, UNKNOWN } from "./text.js";

const MOST_CALLS_DEEP = 24;
const MOST_WORDS = 1000;

/** The checks of every program, whatever its name. */
const CHECKS: ((call: Call) => Risk | undefined)[] = [
  nameIssue,
  removalIssue,
  environmentIssue,
  readingIssue,
  deviceIssue,
  fedIssue,
  writingIssue,
];

/** Applies every rule to a simple command, then to what it would run in turn. */
export function judgeCall(call: Call): Stream {
  const { scope, words } = call;
  const { report } = scope.session;
  if (!takeStep(scope.session) || scope.depth > MOST_CALLS_DEEP || words.length > MOST_WORDS) {
    report(refuse("obfuscation", "it is too much to follow"), words);
    return { text: undefined, from: [] };
  }
  for (const issue of [...issuesOf(call), ...CHECKS.map((check) => check(call))])
    if (issue !== undefined && (issue.final || !isExcused(call))) report(issue, words);
  takeEffect(call);
  return runInner(call);
}

/** An exception is about the words alone; the guard still judges everything around them. */
function isExcused({ words, assignments, redirections, scope }: Call): boolean {
  const isBare = redirections.every(({ target }) => /^(\d|\/dev\/null)$/.test(target));
  return isBare && assignments.length === 0 && isAllowed(words, scope.site.allowed);
}

/** A program with an unknown name; in a function without a call, `"$@"` is no reason. */
function nameIssue({ words: [first], program, scope }: Call): Risk | undefined {
  if (first === undefined || (scope.positional === undefined && first === UNKNOWN)) return undefined;
  const isHidden = program === "" || isUnknown(program) || /[*?]|\[[^[\]]+\]/.test(first);
  return isHidden ? refuse("obfuscation", "the name of the program is not known") : undefined;
}

const RAW =
  /^\/dev\/(sd[a-z]|[hv]d[a-z]|xvd[a-z]|nvme\d|mmcblk\d|dm-\d|r?disk\d|mapper\/|md\d|loop\d|mem$|kmem$|port$)/;

/** Disks, sockets to other machines, the socket of docker. */
function deviceIssue({ args, redirections, scope, program }: Call): Risk | undefined {
  const isShown = /^(ls|stat|file|echo|printf|lsblk|blkid|findmnt|df|test|\[|grep)$/.test(program);
  const named = isShown ? [] : args.map((arg) => arg.replace(/^[io]f=/, ""));
  for (const path of [...named, ...redirections.map(({ target }) => target)]) {
    if (/^\/dev\/(tcp|udp)\//.test(path))
      return refuse("remote-access", `${path} is a connection to another machine`);
    if (/(docker|containerd|podman|crio)\.sock/.test(path))
      return refuse("containers", "it steers docker through its socket");
    if (path.includes("/dev/") && RAW.test(resolvePath(path, scope)))
      return refuse("disks", `${path} is a disk or the memory itself`);
  }
  return undefined;
}

/** Files that nothing may write to. */
function writingIssue(call: Call): Risk | undefined {
  const written = writtenPaths(call).map((path) => protection(path, call.scope));
  return written.find((issue) => issue !== undefined);
}

function runInner(call: Call): Stream {
  const { scope, program, args, input, words } = call;
  const body = scope.functions.get(program);
  if (body !== undefined && !words[0]?.includes("/")) {
    if (scope.depth > MOST_CALLS_DEEP / 2) return { text: undefined, from: [program] };
    return runNode(body, { ...scope, positional: args, depth: scope.depth + 1 }, input);
  }
  const printed = lookThrough(call).map((inner) => ({ ...run(inner, call), isSure: !inner.tentative }));
  return printed.findLast(({ isSure }) => isSure) ?? printedBy(call);
}

function run(inner: Inner, call: Call): Stream {
  const { script, cwd = call.scope.cwd, positional = call.scope.positional } = inner;
  if (script !== undefined && inner.same)
    return runText(script, { ...call.scope, depth: call.scope.depth + 1 }, call.input);
  const scope = innerScope(call.scope, { cwd, positional });
  const { report } = scope.session;
  // If a text may not be a command, report only what is dangerous.
  if (inner.tentative)
    scope.session = {
      ...scope.session,
      report: (issue, words) => issue.category !== "obfuscation" && report(issue, words),
    };
  const { words = [], assignments = [] } = inner;
  if (script === undefined)
    return judgeCall(callOf(words, { ...call, assignments, redirections: [], scope }));
  for (const variable of call.assignments) scope.variables.set(variable.name, variable.value);
  return runText(script, scope, call.input);
}

/** Why variables that a command sets make other programs run something else. */
function environmentIssue(call: Call): Risk | undefined {
  const isDeclaring = /^(export|declare|typeset|local|readonly|env|cross-env)$/.test(call.program);
  const variables = [...call.assignments, ...(isDeclaring ? variablesIn(call.args) : [])];
  const reason = variables.map((variable) => dangerOf(variable, call)).find((one) => one !== undefined);
  return reason === undefined ? undefined : refuse("environment", reason);
}

const ALWAYS = namesIn(`
  LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES DYLD_FRAMEWORK_PATH DYLD_FORCE_FLAT_NAMESPACE BASH_ENV PROMPT_COMMAND
  PYTHONSTARTUP PYTHONHOME PYTHONINSPECT PERL5DB GIT_SSH GIT_SSH_COMMAND GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS
  GIT_PROXY_COMMAND GIT_EXTERNAL_DIFF GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM
  GIT_CONFIG_COUNT LESSOPEN LESSCLOSE SHELLOPTS BASHOPTS GCONV_PATH NPM_CONFIG_SCRIPT_SHELL ZDOTDIR HOSTALIASES
`);

/** Harmful because of their values: names, and what the values must not contain. */
const BY_VALUE: [string, RegExp][] = [
  [
    "NODE_OPTIONS",
    /(^|\s)((--require|-r|--import|--loader|--experimental-loader)(?![\s=]+(tsx|ts-node|dotenv|source-map-support|@swc-node\/register|@babel\/register)(\/\w+)?(\s|$))|--eval|-e|--inspect(-brk)?=(?!127|localhost))([\s=]|$)/,
  ],
  ["PERL5LIB PYTHONPATH LD_LIBRARY_PATH DYLD_LIBRARY_PATH NODE_PATH", /(^|:)\/(tmp|var\/tmp|dev\/shm|evil)/],
  ["PERL5OPT RUBYOPT", /(^|\s)-[MmreI]/],
  ["JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS", /-(javaagent|agent(path|lib)):/],
  ["ENV PS1 PS4", /^\/|\$\(|`|exec|command|eval/],
];

function dangerOf({ name, value }: Variable, call: Call): string | undefined {
  const upper = name.toUpperCase();
  const isAlways = (ALWAYS.has(upper) || upper.startsWith("BASH_FUNC_")) && value !== "";
  const isByValue = BY_VALUE.some(([names, source]) => names.split(" ").includes(name) && source.test(value));
  if (isAlways || isByValue) return `${name} makes other programs run or load something else`;
  return name === "PATH" ? pathReason(value, call) : undefined;
}

const USUAL = /^(\/usr(\/local)?)?\/s?bin$|^\/(opt\/homebrew|snap)\/s?bin$/;

/** Folders may be added to PATH, but none where anybody can put a program, and none instead of all others. */
function pathReason(value: string, { scope }: Call): string | undefined {
  const folders = value.split(":").filter((folder) => folder !== "");
  const open = folders.find((folder) => {
    const path = resolvePath(folder, scope);
    return !isInside(path, scope.site.workspace) && (TEMPORARY.test(path) || /evil|attack|malic/i.test(path));
  });
  if (open !== undefined) return `anybody can put programs into ${open}`;
  const keeps = folders.some((folder) => isUnknown(folder) || USUAL.test(folder));
  return keeps || value === UNKNOWN ? undefined : "PATH leads to other programs than before";
}

/** Why a command must not remove a path: a root, a home, the project, or something around or beside it. */
function removalIssue(call: Call): Risk | undefined {
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
