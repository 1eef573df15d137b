import { isAllowed } from "./allowed-commands.js";
import { type Call, callOf, innerScope, type Stream, takeStep } from "./call.js";
import { environmentIssue } from "./environment.js";
import { type Risk, refuse } from "./finding.js";
import { lookThrough } from "./inner.js";
import { resolvePath } from "./paths.js";
import { protection } from "./protected.js";
import { removalIssue } from "./removal.js";
import { issuesOf } from "./rows.js";
import { fedIssue, type Inner } from "./scripts.js";
import { readingIssue } from "./secrets.js";
import { printedBy, takeEffect } from "./shell/output.js";
import { runNode, runText } from "./shell/run.js";
import { isUnknown, UNKNOWN } from "./text.js";
import { writtenPaths } from "./writes.js";

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
