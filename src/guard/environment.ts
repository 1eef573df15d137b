import { type Call, type Variable, variablesIn } from "./call.js";
import { type Risk, refuse } from "./finding.js";
import { isInside, resolvePath, TEMPORARY } from "./paths.js";
import { isUnknown, namesIn, UNKNOWN } from "./text.js";

/** Why variables that a command sets make other programs run something else. */
export function environmentIssue(call: Call): Risk | undefined {
  const isDeclaring = /^(export|declare|typeset|local|readonly|env|cross-env)$/.test(call.program);
  const variables = [...call.assignments, ...(isDeclaring ? variablesIn(call.args) : [])];
  const reason = variables.map((variable) => why(variable, call)).find((one) => one !== undefined);
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

function why({ name, value }: Variable, call: Call): string | undefined {
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
