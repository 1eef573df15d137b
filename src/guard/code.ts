import { parse } from "unbash";
import { quoteWord } from "../words.js";
import { afterOptions, type Call, valuesOf } from "./call.js";
import { type Category, refuse } from "./finding.js";
import { fileScript, type Inner, isFetched, isOpaque, readScript, unseen } from "./scripts.js";
import { contentOf } from "./shell/output.js";
import { regex } from "./text.js";

const LONGEST = 20_000;

/** One-liners in other languages: the guard judges the texts in them that are commands or paths. */
export function code(call: Call): Inner[] {
  const { program, args, plain, substituted, scope } = call;
  const given = program === "awk" ? plain.slice(0, 1) : codeArgs(args);
  // Showing a file is as bad as running it.
  const isUnseen = substituted.length === 0 || isFetched({ text: undefined, from: substituted });
  const hidden = program === "awk" || !isUnseen ? undefined : given.find(isOpaque);
  if (hidden !== undefined) unseen(call, hidden);
  const read = readScript(call);
  const isFile = given.length === 0 && read === undefined;
  const [file] = isFile ? afterOptions(args, ["-m", "-W", "-X", "-r", "--require"]) : [];
  if (file !== undefined) fileScript(call, file, []);
  const texts = [...given, read, file && contentOf(file, scope).text];
  return texts.flatMap((text) => (text === undefined || text === "" ? [] : inCode(text, call)));
}

function codeArgs(args: string[]): string[] {
  const last = args.flatMap((arg, at) =>
    /^-[a-zA-Z0-9]*[eEcr]$|^eval$/.test(arg) ? [args[at + 1] ?? ""] : [],
  );
  const printed = valuesOf(args, "-p", "--print").filter((text) => /\W/.test(text));
  const joined = args.filter((arg) => /^-e\S/.test(arg)).map((arg) => arg.slice(2));
  const named = valuesOf(args, "--eval", "--execute", "--run");
  return [...last, ...joined, ...named, ...printed.map((text) => `console.log(${text})`)];
}

/** The home folder, however the code names it; a shell writes `~`. */
const HOME = String.raw`(?:[\w.]{1,40}\.|require\(["'](?:node:)?os["']\)\.)?(?:homedir\(\)|expanduser\(["']~["']\)|process\.env\.HOME|environ\[["']HOME["']\]|ENV\[["']HOME["']\]|Path\.home\(\)|Dir\.home)`;
const RUN =
  /\b(?:system|popen[23]?|exec(?!ute\b|utemany)\w*|os\.execute|spawn\w*|Popen|run|call|check_call|check_output|get(?:status)?output|qx|shell_exec|passthru|proc_open|capture2e?|capture3|Deno\.Command|do shell script|shell-command)\s*[({["']/g;
const REMOVE =
  /(?<!["'])\b(?:rmtree|Deno\.remove|os\.(?:remove|rename|replace)|removedirs|rmSync|rmdirSync|unlinkSync|renameSync|shutil\.move|rm_rf|rm_r|rimraf|removeSync|remove_dir_all|remove_tree|delete-directory|rmdir|unlink|rename|rm)\s*\(?\s*(?:glob\s*)?[\w('"[]/g;
const WRITE =
  /\b(?:open|writeFile(?:Sync)?|appendFile(?:Sync)?|file_put_contents|createWriteStream|File\.write|fopen|copyFileSync|cpSync|renameSync|copyfile|copy2?|copytree|move|symlink\w*|chmod|rename)\s*\(|\.(?:write|write_text|write_bytes|touch|unlink|rmdir|symlink_to)\(|>>?\s*(?=")/g;
/** Texts in backticks, and texts after a pipe or a certain word. */
const TICKED = /(?:qx|%x)\s*(?:\{(.*?)\}|\((.*?)\)|\[(.*?)\])|`([^`]*)`/gs;
const PIPED =
  /\|&?\s*(?:getline\b)?\s*"((?:[^"\\]|\\.)*)"|"((?:[^"\\]|\\.)*)"\s*\|&?\s*getline|\b(?:system|exec|spawn)\s+"(.*?)"|\b(?:system|exec)\s+'(.*?)'|\b(?:exec|spawn)\s+([\w./][^"'({;\n}]*)/gs;

function inCode(all: string, call: Call): Inner[] {
  const text = all
    .slice(0, LONGEST)
    .replace(regex(String.raw`${HOME}\s*(?:\.joinpath\(|[+/.]|,)\s*(["'])\/?`, "g"), "$1~/")
    .replace(regex(HOME, "g"), "'~'")
    .replaceAll("$ENV{HOME}", "~");
  for (const [title, source] of Object.entries(ISSUES)) {
    const [category = "", reason = ""] = title.split(/, (.*)/);
    if (regex(source).test(text)) call.scope.session.report(refuse(category as Category, reason), call.words);
  }
  const runs = [...text.matchAll(RUN)].slice(0, 20).map((match) => literals(argumentsAt(text, match.index)));
  // In Python and in comments, backticks quote; in JavaScript, they delimit ordinary texts.
  const ticked = /^(perl|ruby|php|irb)/.test(call.program) ? text.matchAll(TICKED) : [];
  const others = [...ticked, ...text.matchAll(PIPED)].map((match) => match.slice(1).findLast(Boolean) ?? "");
  const commands = [...runs.flatMap((found) => [found[0] ?? "", found.map(quoteWord).join(" ")]), ...others];
  const isSure = (script: string) => isCommandLike(script) && (parse(script).errors ?? []).length === 0;
  const texts = literals(text)
    .filter((literal) => /\s/.test(literal) && isCommandLike(literal))
    .slice(0, 30);
  const isRunning = runs.length > 0 || /child_process|subprocess/.test(text);
  return [
    ...commands.filter(isSure).map((script) => ({ script, positional: [] })),
    // If the code runs anything, it may run any of its texts.
    ...(isRunning ? texts.map((script) => ({ script, tentative: true, positional: [] })) : []),
    ...pathsAfter(REMOVE, text).map((path) => ({ words: ["rm", "-r", path] })),
    ...pathsAfter(WRITE, text).map((path) => ({ words: ["tee", path] })),
    ...literals(text)
      .filter(isPath)
      .map((path) => ({ words: ["cat", path] })),
  ];
}

/** Names of functions and modules are not commands, nor are broken templates of another language. */
function isCommandLike(text: string): boolean {
  return /^[\w./~-][\w./~$=-]*(\s|$)/.test(text.trim()) && !/[<>]\/?\w+>/.test(text);
}

/** The paths that a function gets, or that it is a method of. */
function pathsAfter(pattern: RegExp, text: string): string[] {
  return [...text.matchAll(pattern)]
    .slice(0, 20)
    .flatMap((match) => {
      const [name] = match;
      const [, , before = ""] = /(["'])([^"'\n]+)\1\s*\)*$/.exec(text.slice(0, match.index)) ?? [];
      if (name.startsWith(".")) return [before];
      const found = literals(argumentsAt(text, match.index));
      const isReading =
        /^f?open/.test(name) && !found.slice(1).some((mode) => /^[rwab+x><]*[wax+>]/.test(mode));
      if (isReading) return [];
      const isMove = pattern === REMOVE && /rename|replace|move/.test(name);
      return isMove ? found.slice(0, 1) : /^(copy|cp)/i.test(name) ? found.slice(1) : found;
    })
    .filter((path) => pattern === REMOVE || /[/.~]/.test(path));
}

function isPath(text: string): boolean {
  const isShaped = /^[~/.]?[\w@.+-]*\/[^\s]*$|^\.[\w.]+$|\.pem$|^id_/.test(text);
  return isShaped && text.length < 300 && !/^https?:/.test(text);
}

const TEXT = String.raw`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^()"']`;

/** The text in brackets after a name, with one level of nested brackets. */
function argumentsAt(text: string, from: number): string {
  const rest = text.slice(from, from + 2000);
  return regex(String.raw`\((?:${TEXT}|\((?:${TEXT})*\))*`, "s").exec(rest)?.[0] ?? rest.slice(0, 300);
}

const QUOTED = /"""([\s\S]*?)"""|'''([\s\S]*?)'''|"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`([^`$]*)`/g;

/** The texts in quotes. */
function literals(text: string): string[] {
  const found = [...text.matchAll(QUOTED)].slice(0, 100);
  return found.map((match) =>
    (match.slice(1).find((group) => group !== undefined) ?? "")
      .replace(/\\x([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
      .replace(/\\(["'\\])/g, "$1"),
  );
}

const DECODES = String.raw`(?:b64decode|fromhex|unhexlify|atob|['"]base64['"]|base64_decode|marshal|decompress|fromCharCode|rot.?13|urlopen|requests\.get|urllib|\[::-1\]|\bchr\(|codecs\.decode|decode_base64|unpack|gzinflate|hex2bin|net/http|http\.get|LWP|pack\s*\(?\s*['"]H)`;
const RUNS = String.raw`(?<![.\w])(?:eval|exec|Function|instance_eval)\b|runIn\w+Context\b`;
const FAR = String.raw`https?:\/\/(?!localhost|127\.)`;
const SENDS = String.raw`(?:requests|httpx|axios)\.(?:post|put)\(|urlopen\(|\bfetch\(|\bhttps?(?:["']\))?\.request\(`;
const HOLDS = String.raw`open\(|readFile(?:Sync)?\(|environ\b|process\.env\b(?!\.)`;

/** What nobody does by accident, in any language: the category and the reason, and an expression. */
const ISSUES: Record<string, string> = {
  "obfuscation, it runs what it decodes or fetches": String.raw`\b(?:exec|eval|runIn\w+Context|Function|system|compile|popen|spawn|run|instance_eval|loadstring|load|assert)\b[^\n]*${DECODES}|${DECODES}[\s\S]*\b(?:exec|eval|os\.system|instance_eval)\s*\(|import\s*\(\s*["'\x60]https?:|(?:\bfetch\s*\(|${FAR})[\s\S]*(?:${RUNS})|(?:${RUNS})[\s\S]*${FAR}|getattr\(\s*(?:os|subprocess|__import__\([^)]*\))\s*,\s*['"]\w*['"]\s*\+`,
  "remote-access, it connects a shell to another machine": String.raw`(?:socket|\bnet['"]?\)?\.(?:connect|Socket|createConnection)|TCPSocket|fsockopen|IO::Socket|inet\.tcp)[\s\S]*(?:\/bin\/(?:ba|z|da|k)?sh|pty\.spawn|dup2|cmd\.exe|child_process|subprocess|\bsh -i|exec|proc_open|popen|system|passthru)|\/inet\/(?:tcp|udp)\/`,
  "secrets, it shows every variable, with the secrets among them": String.raw`(?:print|pprint|dumps|write|puts|console\.log|inspect|stringify|var_dump|print_r)\s*\(?\s*\*?\s*(?:dict\()?\s*(?:os\.environ(?!\s*[.[])|os\.environ\.(?:items|values|copy)|process\.env(?!\s*[.[\w])|ENV\b(?!\s*[.[])|ENV\.(?:to_h|to_a|inspect|each|map)|\$_ENV(?!\s*\[))|(?:keys|each|values|print|Dumper\(?)\s*\\?%ENV|\bin ENVIRON\b`,
  "secrets, it shows a secret variable": String.raw`(?:print|puts|echo|console\.log|write)\b[^;\n]*(?:environ(?:\.get)?\s*[[(]|process\.env[.[]|ENV(?:IRON)?\[|getenv\(|\$ENV\{)\s*['"]?\w*(?:SECRET|TOKEN|PASSW|API_?KEY|ACCESS_KEY|PRIVATE)`,
  "exhaustion, it starts itself again and again (a fork bomb)": String.raw`fork while|while\s*\(?\s*(?:True|1|true)\s*\)?\s*[:{]?[\s\S]*\bfork\b|loop\s*\{\s*fork|\bfor\s*\(\s*;\s*;[\s\S]{0,2000}\bfork\b|\b(?:fork|spawn)\(\s*(?:__filename|process\.argv)`,
  "processes, it ends every process": String.raw`\b(?:process|os|Process)\.kill(?:pg)?\s*\(\s*(?:-1|["']KILL["'],\s*-1)\b`,
  "exfiltration, it sends files or variables to another machine": String.raw`(?:${SENDS})(?![^)]*(?:localhost|127\.0\.0\.1))[\s\S]*(?:${HOLDS})|(?:${HOLDS})[\s\S]*(?:${SENDS})(?![^)]*(?:localhost|127\.0\.0\.1))`,
};
