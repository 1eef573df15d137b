import { parse } from "unbash";
import { quoteWord } from "../../words.js";
import { afterOptions, valuesOf } from "../args.js";
import type { Call } from "../call.js";
import { type Judged, refuse } from "../finding.js";
import { contentOf } from "../shell/command.js";
import type { Inner, LookThrough } from "./inner.js";
import { readsProgram } from "./programs.js";
import { reportFetched } from "./shells.js";

/** One-liners in other languages: the texts in them that are commands or paths are judged as such. */
export const code: LookThrough = (call) => codesOf(call).flatMap((text) => inCode(text, call));

function codesOf(call: Call): string[] {
  const { program, args, input } = call;
  const given = /^(g|m|n|busybox-)?awk$/.test(program)
    ? afterOptions(args, ["-F", "-v", "-f", "-i"]).slice(0, 1)
    : codeArgs(args);
  const read = readsProgram(call) ? [input?.text ?? ""] : [];
  const [file] =
    given.length + read.length > 0 ? [] : afterOptions(args, ["-m", "-W", "-X", "-r", "--require"]);
  if (file !== undefined) reportFetched(call, file);
  return [...given, ...read, (file !== undefined && contentOf(file, call.scope).text) || ""].filter(
    (text) => text !== "",
  );
}

function codeArgs(args: string[]): string[] {
  const joined = args.flatMap((arg, index) =>
    /^-[a-zA-Z0-9]*[eEcr]$/.test(arg) ? (args[index + 1] ?? "") : [],
  );
  return [
    ...joined,
    ...valuesOf(args, "--eval", "--execute", "--run"),
    ...args.filter((arg) => /^-e\S/.test(arg)).map((arg) => arg.slice(2)),
    ...valuesOf(args, "-p", "--print")
      .filter((text) => /\W/.test(text))
      .map((text) => `console.log(${text})`),
  ];
}

function inCode(text: string, call: Call): Inner[] {
  const brief = text.slice(0, LONGEST);
  for (const judged of suspicions(brief)) call.scope.session.report(judged, call.words);
  return [
    ...commandsIn(brief),
    ...guesses(brief),
    ...removalsIn(brief),
    ...unlinkedIn(brief),
    ...writesIn(brief),
    ...literals(brief)
      .filter(isPath)
      .map((path) => ({ words: ["cat", path] })),
  ];
}

const LONGEST = 20_000;
const RUN =
  /(?:\b(?:system|popen|popen2|popen3|exec(?!ute\b|utemany)\w*|os\.execute|spawn\w*|Popen|run|call|check_call|check_output|getoutput|getstatusoutput|qx|shell_exec|passthru|proc_open|capture2e?|capture3|execSync|execFileSync|spawnSync|do shell script|\$`)\s*[({["'])/g;

function commandsIn(text: string): Inner[] {
  const calls = [...text.matchAll(RUN)].slice(0, 20).map((match) => literals(argumentsAt(text, match.index)));
  const ticked = [
    ...text.matchAll(/(?:qx|%x)\s*(?:\{(.*?)\}|\((.*?)\)|\[(.*?)\]|([|!/])(.*?)\4)|`([^`]*)`/gs),
  ].map((match) => match[1] ?? match[2] ?? match[3] ?? match[5] ?? match[6] ?? "");
  const perl = [...text.matchAll(/\b(?:system|exec)\s+(["'])(.*?)\1/gs)].map((match) => match[2] ?? "");
  const awk = [
    ...text.matchAll(/\|&?\s*(?:getline\b)?\s*"((?:[^"\\]|\\.)*)"|"((?:[^"\\]|\\.)*)"\s*\|&?\s*getline/g),
  ].map((match) => match[1] ?? match[2] ?? "");
  const joined = calls.flatMap((found) => (found.length > 1 ? [found.map(quoteWord).join(" ")] : []));
  return [...calls.flatMap((found) => found.slice(0, 1)), ...joined, ...ticked, ...perl, ...awk]
    .filter((script) => script.trim() !== "" && isCommandLike(script) && isWhole(script))
    .map((script) => ({ script, positional: [] }));
}

/** What does not parse is text of another kind. */
function isWhole(script: string): boolean {
  return (parse(script).errors ?? []).length === 0;
}

/** Names of functions and modules are no commands; a broken template of another language is none either. */
function isCommandLike(text: string): boolean {
  return /^[\w./~-][\w./~$=-]*(\s|$)/.test(text.trim()) && !/[<>]\/?\w+>/.test(text);
}

const RUNS_ANYTHING =
  /child_process|subprocess|os\.(system|popen|exec)|\bsystem\s*\(|shell_exec|\bexec\b|\bspawn\b/;

/** Where something is run, any text can be what is run. */
function guesses(text: string): Inner[] {
  if (!RUNS_ANYTHING.test(text)) return [];
  const bare = [...text.matchAll(/(?:^|[;\n{])\s*(?:exec|spawn|system)\s+([^"'({;\n][^;\n}]*)/g)].map(
    (match) => match[1] ?? "",
  );
  const texts = literals(text).filter((literal) => /\s/.test(literal) && isCommandLike(literal));
  return [...bare, ...texts].slice(0, 30).map((script) => ({ script, tentative: true, positional: [] }));
}

const REMOVE =
  /\b(?:rmtree|os\.remove|removedirs|rmSync|rmdirSync|unlinkSync|rm_rf|rm_r|rimraf|removeSync|remove_dir_all|remove_tree|rmdir|unlink|rm)\s*\(?\s*(?:glob\s*)?[('"[]/g;

function removalsIn(text: string): Inner[] {
  return [...text.matchAll(REMOVE)].slice(0, 20).flatMap((match) => {
    const inside = argumentsAt(text, match.index);
    const home = /homedir|expanduser|HOME|Path\.home|Dir\.home/.test(inside) ? ["~"] : [];
    const paths = [
      ...literals(inside).filter((path) => path !== "HOME" && path !== "~"),
      ...(literals(inside).some((path) => /^[~]?\//.test(path) || path === "~") ? [] : home),
      ...literals(inside).filter((path) => path === "~"),
    ];
    return paths.map((path) => ({ words: ["rm", "-r", path] }));
  });
}

const WRITE =
  /\b(?:open|writeFileSync|writeFile|appendFileSync|appendFile|write_text|file_put_contents|createWriteStream|File\.write|fopen|copyFileSync|renameSync|copyfile|move|symlink\w*|chmod|rename)\s*\(/g;

/** `Path("x").unlink()`, also of all that is below. */
function unlinkedIn(text: string): Inner[] {
  if (!/\.(unlink|rmdir)\(/.test(text)) return [];
  return [...text.matchAll(/Path\(\s*(['"])(.*?)\1/g)].map((match) => ({
    words: ["rm", "-r", match[2] ?? ""],
  }));
}

function writesIn(text: string): Inner[] {
  const called = [...text.matchAll(WRITE)].slice(0, 20).flatMap((match) => {
    const inside = argumentsAt(text, match.index);
    const found = literals(inside);
    const isReading =
      /^open|^fopen/.test(match[0]) && !found.slice(1).some((mode) => /^[rwab+x><]*[wax+>]/.test(mode));
    return isReading ? [] : found.filter((path) => /[/.~]/.test(path));
  });
  const paths = [
    ...text.matchAll(/Path\(\s*(['"])(.*?)\1\s*\)(?:\.expanduser\(\))?\.(?:write|touch|unlink|open)/g),
  ].map((match) => match[2] ?? "");
  const printed = [...text.matchAll(/print[^;}\n]*>>?\s*"([^"]+)"/g)].map((match) => match[1] ?? "");
  return [...called, ...paths, ...printed].map((path) => ({ words: ["tee", path] }));
}

/** From the opening bracket to the one that closes it. */
function argumentsAt(text: string, from: number): string {
  const open = text.slice(from).search(/[({[]/);
  if (open === -1) return text.slice(from, from + 300);
  let depth = 0;
  for (let at = from + open; at < Math.min(text.length, from + 2000); at += 1) {
    if ("([{".includes(text[at] ?? "")) depth += 1;
    if (")]}".includes(text[at] ?? "")) depth -= 1;
    if (depth === 0) return text.slice(from, at + 1);
  }
  return text.slice(from, from + 2000);
}

function literals(text: string): string[] {
  const found = text.matchAll(
    /"""([\s\S]*?)"""|'''([\s\S]*?)'''|"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'/g,
  );
  return [...found]
    .slice(0, 100)
    .map((match) =>
      (match[1] ?? match[2] ?? match[3] ?? match[4] ?? "")
        .replace(/\\x([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
        .replace(/\\(["'\\])/g, "$1"),
    );
}

function isPath(text: string): boolean {
  return (
    /^[~/.]?[\w@.+-]*\/[^\s]*$|^\.[\w.]+$|\.pem$|^id_/.test(text) &&
    text.length < 300 &&
    !/^https?:/.test(text)
  );
}

const RUNNERS = "(?:exec|eval|Function|system|compile|popen|spawn|run|instance_eval|loadstring|load|assert)";
const DECODERS =
  "(?:b64decode|fromhex|unhexlify|atob|['\"]base64['\"]|base64_decode|marshal|decompress|fromCharCode|rot.?13|urlopen|requests\\.get|urllib|\\[::-1\\]|\\bchr\\(|codecs\\.decode|decode_base64|unpack|gzinflate|hex2bin|net/http|http\\.get|LWP|pack\\s*\\(?\\s*['\"]H)";
const SUSPICIONS: [RegExp, Judged][] = [
  [
    new RegExp(`\\b${RUNNERS}\\b[^\\n]*${DECODERS}`, "s"),
    { ...refuse("it runs what it decodes or fetches"), category: "obfuscation" },
  ],
  [
    new RegExp(`${DECODERS}[\\s\\S]*\\b(?:exec|eval|os\\.system|instance_eval)\\s*\\(`),
    { ...refuse("it runs what it decodes or fetches"), category: "obfuscation" },
  ],
  [
    /(socket|\bnet['"]?\)?\.(connect|Socket|createConnection)|TCPSocket|fsockopen|IO::Socket|inet\.tcp)[\s\S]*(\/bin\/(ba|z|da|k)?sh|pty\.spawn|dup2|cmd\.exe|child_process|subprocess|\bsh -i|exec|proc_open|popen|system|passthru)/i,
    { ...refuse("it gives a shell to another machine"), category: "remote-access" },
  ],
  [
    /(print|pprint|dumps|write|puts|console\.log|inspect|stringify|var_dump|print_r)\s*\(?\s*\*?\s*(dict\()?\s*(os\.environ(?!\s*[.[])|os\.environ\.(items|values|copy)|process\.env(?!\s*[.[\w])|ENV(?!\s*[.[])|ENV\.(to_h|to_a|inspect|each|map)|\$_ENV(?!\s*\[)|JSON\.stringify\(process\.env\))/,
    { ...refuse("it shows every variable, with the secrets among them"), category: "secrets" },
  ],
  [
    /(print|puts|echo|console\.log|write)\b[^;\n]*(environ(\.get)?\s*[[(]|process\.env\.|process\.env\[|ENV\[|getenv\(|\$ENV\{)\s*['"]?\w*(SECRET|TOKEN|PASSW|API_?KEY|ACCESS_KEY|PRIVATE)/i,
    { ...refuse("it shows a secret variable"), category: "secrets" },
  ],
  [
    /(keys|each|values|print|Dumper\(?)\s*\\?%ENV/,
    { ...refuse("it shows every variable, with the secrets among them"), category: "secrets" },
  ],
  [
    /chmod\([^)]*\b0o?[2-7]\d{3}\b/,
    { ...refuse("it lets a program run as its owner"), category: "privileges" },
  ],
  [
    /\bin ENVIRON\b/,
    { ...refuse("it shows every variable, with the secrets among them"), category: "secrets" },
  ],
  [/\/inet\/(tcp|udp)\//, { ...refuse("it connects to another machine"), category: "remote-access" }],
  [
    /fork while|while\s*\(?\s*(True|1|true)\s*\)?\s*[:{]?[\s\S]*\bfork\b|loop\s*\{\s*fork|fork\s*\(\)\s*;?\s*\}?\s*while/,
    { ...refuse("it starts itself again and again (a fork bomb)"), category: "exhaustion" },
  ],
  [
    /(requests|httpx)\.(post|put)\((?![^)]*(localhost|127\.0\.0\.1))[\s\S]*(open\(|read\(|environ)|(open\(|readFileSync\(|environ|process\.env)[\s\S]*(requests\.(post|put)\(|urlopen\(|fetch\(|https?\.request\()(?![^)]*(localhost|127\.0\.0\.1))/,
    { ...refuse("it sends files or variables to another machine"), category: "exfiltration" },
  ],
  [
    /os\.(setuid|setgid)\(0\)|Process::(UID|Sys)\.\w*0|POSIX::setuid\(0\)|process\.setuid\(0\)/,
    { ...refuse("it becomes root"), category: "privileges" },
  ],
  [
    /os\.kill\(\s*-?1\b|process\.kill\(\s*-?1\b|Process\.kill\([^,]*,\s*-?1\b/,
    { ...refuse("it ends every process, or the first one"), category: "processes" },
  ],
];

function suspicions(text: string): Judged[] {
  return SUSPICIONS.filter(([pattern]) => pattern.test(text)).map(([, judged]) => judged);
}
