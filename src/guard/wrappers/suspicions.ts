import { type Judged, refuse } from "../finding.js";

const RUNNERS =
  "(?:exec|eval|runIn\\w+Context|Function|system|compile|popen|spawn|run|instance_eval|loadstring|load|assert)";
const DECODERS =
  "(?:b64decode|fromhex|unhexlify|atob|['\"]base64['\"]|base64_decode|marshal|decompress|fromCharCode|rot.?13|urlopen|requests\\.get|urllib|\\[::-1\\]|\\bchr\\(|codecs\\.decode|decode_base64|unpack|gzinflate|hex2bin|net/http|http\\.get|LWP|pack\\s*\\(?\\s*['\"]H)";
/** Made when they are needed: most commands hold no code. */
const all = (): [RegExp, Judged][] => [
  [
    new RegExp(`\\b${RUNNERS}\\b[^\\n]*${DECODERS}`, "s"),
    { ...refuse("it runs what it decodes or fetches"), category: "obfuscation" },
  ],
  [
    new RegExp(`${DECODERS}[\\s\\S]*\\b(?:exec|eval|os\\.system|instance_eval)\\s*\\(`),
    { ...refuse("it runs what it decodes or fetches"), category: "obfuscation" },
  ],
  [
    /import\s*\(\s*["'`]https?:|(\bfetch\s*\(|https?:\/\/(?!localhost|127\.))[\s\S]*((?<![.\w])(eval|exec|Function|instance_eval)|runIn\w+Context)\b|(?<![.\w])(eval|exec|Function|instance_eval)\b[\s\S]*https?:\/\/(?!localhost|127\.)/,
    { ...refuse("it runs what it decodes or fetches"), category: "obfuscation" },
  ],
  [
    /(socket|\bnet['"]?\)?\.(connect|Socket|createConnection)|TCPSocket|fsockopen|IO::Socket|inet\.tcp)[\s\S]*(\/bin\/(ba|z|da|k)?sh|pty\.spawn|dup2|cmd\.exe|child_process|subprocess|\bsh -i|exec|proc_open|popen|system|passthru)/i,
    { ...refuse("it gives a shell to another machine"), category: "remote-access" },
  ],
  [
    /(print|pprint|dumps|write|puts|console\.log|inspect|stringify|var_dump|print_r)\s*\(?\s*\*?\s*(dict\()?\s*(os\.environ(?!\s*[.[])|os\.environ\.(items|values|copy)|process\.env(?!\s*[.[\w])|ENV\b(?!\s*[.[])|ENV\.(to_h|to_a|inspect|each|map)|\$_ENV(?!\s*\[)|JSON\.stringify\(process\.env\))/,
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
    /fork while|while\s*\(?\s*(True|1|true)\s*\)?\s*[:{]?[\s\S]*\bfork\b|loop\s*\{\s*fork|fork\s*\(\)\s*;?\s*\}?\s*while|\b(?:iter\(int|itertools\.|for\s*\(\s*;\s*;)[\s\S]{0,2000}\bfork\b|\b(fork|spawn)\(\s*(__filename|process\.argv|process\.execPath,\s*process\.argv)/,
    { ...refuse("it starts itself again and again (a fork bomb)"), category: "exhaustion" },
  ],
  [
    /(requests|httpx)\.(post|put)\((?![^)]*(localhost|127\.0\.0\.1))[\s\S]*(open\(|read\(|environ)|(open\(|readFileSync\(|environ|process\.env)[\s\S]*(requests\.(post|put)\(|urlopen\(|fetch\(|https?\.request\()(?![^)]*(localhost|127\.0\.0\.1))/,
    { ...refuse("it sends files or variables to another machine"), category: "exfiltration" },
  ],
  [
    /(\bfetch|axios\.(post|put)|\bhttps?(?:["']\))?\.request)\((?![^)]*(localhost|127\.0\.0\.1))[\s\S]*(readFileSync\(|readFile\(|process\.env\b(?!\.))/,
    { ...refuse("it sends files or variables to another machine"), category: "exfiltration" },
  ],
  [
    /os\.(setuid|setgid)\(0\)|Process::(UID|Sys)\.\w*0|POSIX::setuid\(0\)|process\.setuid\(0\)/,
    { ...refuse("it becomes root"), category: "privileges" },
  ],
  [
    /getattr\(\s*(?:os|subprocess|__import__\([^)]*\))\s*,\s*['"]\w*['"]\s*\+/,
    { ...refuse("it puts the name of what it calls together"), category: "obfuscation" },
  ],
  [
    /os\.kill\(\s*-?1\b|process\.kill\(\s*-?1\b|Process\.kill\([^,]*,\s*-?1\b|\bkill\s*\(?\s*["']?\w+["']?\s*(?:,|=>)\s*-?1\b/,
    { ...refuse("it ends every process, or the first one"), category: "processes" },
  ],
];

let known: [RegExp, Judged][] | undefined;

/** What is not done by accident, in whatever language. */
export function suspicions(text: string): Judged[] {
  known ??= all();
  return known.filter(([pattern]) => pattern.test(text)).map(([, judged]) => judged);
}
