import { type Assigned, type Call, isUnknown, UNKNOWN } from "../call.js";
import { entryOf } from "../entry.js";
import { refuse } from "../finding.js";
import { namesIn } from "../list.js";
import { isInside, resolvePath } from "../paths.js";
import { isOtherRepository, OTHER_REPOSITORY } from "./repositories.js";
import type { Rule } from "./rule.js";

/** Variables that make other programs run something else. */
export const environment: Rule = {
  category: "environment",
  judge(call) {
    if (call.program === "hash" && call.args.includes("-p"))
      return refuse("it puts another program in the place of a known one");
    for (const assigned of [...call.assignments, ...declared(call)]) {
      const reason = why(assigned, call);
      if (reason !== undefined) return refuse(reason);
    }
    return undefined;
  },
};

const DECLARES = namesIn("export declare typeset local readonly env cross-env setenv launchctl");

function declared({ program, args }: Call): Assigned[] {
  if (!DECLARES.has(program)) return [];
  return args
    .filter((arg) => /^[A-Za-z_]\w*=/.test(arg))
    .map((arg) => ({ name: arg.slice(0, arg.indexOf("=")), value: arg.slice(arg.indexOf("=") + 1) }));
}

const ALWAYS = namesIn(`
  LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES DYLD_FRAMEWORK_PATH DYLD_FORCE_FLAT_NAMESPACE BASH_ENV
  PROMPT_COMMAND PYTHONSTARTUP PYTHONHOME PYTHONINSPECT PERL5DB GIT_SSH GIT_SSH_COMMAND GIT_ASKPASS
  SSH_ASKPASS SUDO_ASKPASS GIT_PROXY_COMMAND GIT_EXTERNAL_DIFF GIT_EXEC_PATH GIT_TEMPLATE_DIR
  GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_COUNT LESSOPEN LESSCLOSE SHELLOPTS BASHOPTS GCONV_PATH
  NPM_CONFIG_SCRIPT_SHELL ZDOTDIR GLIBC_TUNABLES HOSTALIASES RESOLV_HOST_CONF
`);

function isAlways(name: string): boolean {
  const upper = name.toUpperCase();
  return ALWAYS.has(upper) || upper.startsWith("BASH_FUNC_");
}

/** Harmful by what they hold. */
const BY_VALUE: Record<string, RegExp> = {
  NODE_OPTIONS:
    /(^|\s)((--require|-r|--import|--loader|--experimental-loader)(?![\s=]+(tsx|ts-node|esbuild-register|dotenv|source-map-support|@swc-node\/register|@babel\/register)(\/(cjs|esm|register|config|esm-register|install))?(\s|$))|--eval|-e|--inspect(-brk)?=(?!127|localhost))([\s=]|$)/,
  RUBYOPT: /(^|\s)-[rI]/,
  PERL5OPT: /(^|\s)-[MmI]/,
  PERL5LIB: /^\/(tmp|var\/tmp|dev\/shm)/,
  PYTHONPATH: /(^|:)\/(tmp|var\/tmp|dev\/shm)/,
  LD_LIBRARY_PATH: /(^|:)\/(tmp|var\/tmp|dev\/shm|evil)/,
  DYLD_LIBRARY_PATH: /(^|:)\/(tmp|var\/tmp|dev\/shm)/,
  NODE_PATH: /(^|:)\/(tmp|var\/tmp|dev\/shm)/,
  JAVA_TOOL_OPTIONS: /-(javaagent|agentlib|agentpath)/,
  ENV: /\//,
  PS4: /\$\(|`/,
  PS1: /\$\(|`/,
  TAR_OPTIONS: /exec|command/,
  RSYNC_RSH: /./,
  MAKEFLAGS: /eval|shell/i,
};

const JAVA = namesIn("_JAVA_OPTIONS JDK_JAVA_OPTIONS MAVEN_OPTS GRADLE_OPTS JAVA_OPTS SBT_OPTS");
const COMPILERS = namesIn("CC CXX RUSTC RUSTC_WRAPPER GOROOT");
const TEMPORARY = ["/tmp/", "/var/tmp/", "/dev/shm/"];

function why({ name, value }: Assigned, call: Call): string | undefined {
  if (isAlways(name) && value !== "") return `${name} makes other programs run or load something else`;
  if (name === "ENV" && isReadFirst(value, call)) return "ENV is a file that a shell runs first";
  if (name === "GIT_DIR" && isOtherRepository(value, call.scope)) return OTHER_REPOSITORY;
  if (name === "PATH") return pathReason(value, call);
  if (COMPILERS.has(name) && TEMPORARY.some((folder) => value.startsWith(folder)))
    return `anybody can change ${value}`;
  return entryOf(BY_VALUE, JAVA.has(name) ? "JAVA_TOOL_OPTIONS" : name)?.test(value)
    ? `${name} makes other programs run or load something else`
    : undefined;
}

const USUAL_ENV = /^(|prod\w*|dev\w*|test\w*|stag\w*|ci|local|qa|uat|e2e)$/i;

function isReadFirst(value: string, { program, args }: Call): boolean {
  return (
    /^(da|a|k|mk)?sh$/.test(program) && args.some((arg) => /^-\w*[ci]$/.test(arg)) && !USUAL_ENV.test(value)
  );
}

const USUAL = /^(\/usr(\/local)?)?\/s?bin$|^\/(opt\/homebrew|snap)\/s?bin$/;

/** Folders may be added, but not where anybody can put a program, and not in place of all others. */
function pathReason(value: string, { scope }: Call): string | undefined {
  const folders = [...new Set(value.split(":"))].filter((folder) => folder !== "");
  const open = folders.find((folder) => isOpen(folder, scope));
  if (open !== undefined) return `anybody can put programs into ${open}`;
  const keeps = folders.some((folder) => isUnknown(folder) || USUAL.test(folder));
  return keeps || value === UNKNOWN ? undefined : "PATH leads to other programs than before";
}

function isOpen(folder: string, scope: Call["scope"]): boolean {
  const path = resolvePath(folder, scope);
  if (isInside(path, scope.place.workspace)) return false;
  return /^\/(tmp|var\/tmp|dev\/shm)(\/|$)/.test(path) || /evil|attack|malic/i.test(path);
}
