import { afterOptions, plainArgs, valuesOf } from "../args.js";
import { type Call, UNKNOWN } from "../call.js";
import { entryOf } from "../entry.js";
import { resolvePath } from "../paths.js";
import { type Inner, type LookThrough, scriptsOf, wordsOf } from "./inner.js";

/** Programs that stand in front of another: which options have a value, how many words of their own follow. */
const PREFIXES: Record<string, { valued?: string[]; own?: number }> = {
  sudo: { valued: ["-u", "-g", "-h", "-p", "-C", "-r", "-t", "-U", "-D", "-R", "-T"] },
  doas: { valued: ["-u", "-C"] },
  pkexec: { valued: ["--user"] },
  gosu: { own: 1 },
  "su-exec": { own: 1 },
  timeout: { valued: ["-s", "-k", "--signal", "--kill-after"], own: 1 },
  gtimeout: { valued: ["-s", "-k"], own: 1 },
  nice: { valued: ["-n", "--adjustment"] },
  ionice: { valued: ["-c", "-n", "--class", "--classdata"] },
  nohup: {},
  setsid: {},
  stdbuf: { valued: ["-i", "-o", "-e"] },
  time: { valued: ["-f", "-o", "--format", "--output"] },
  exec: { valued: ["-a"] },
  builtin: {},
  chrt: { own: 1 },
  taskset: { own: 1 },
  unbuffer: {},
  strace: { valued: ["-o", "-e", "-p", "-s", "-E", "-u"] },
  ltrace: { valued: ["-o", "-e", "-p", "-s"] },
  valgrind: {},
  "xvfb-run": { valued: ["-n", "-s", "-e", "-f", "-w", "--server-args", "--server-num"] },
  "dbus-run-session": {},
  caffeinate: { valued: ["-t", "-w"] },
  fakeroot: {},
  faketime: { own: 1 },
  firejail: {},
  proxychains: { valued: ["-f"] },
  proxychains4: { valued: ["-f"] },
  torsocks: {},
  busybox: {},
  toybox: {},
  setarch: { own: 1 },
  linux64: {},
  noglob: {},
  nocorrect: {},
  chpst: { valued: ["-u", "-U", "-b", "-e", "-d", "-n", "-l", "-L"] },
  daemonize: { valued: ["-p", "-l", "-o", "-e", "-c", "-u"] },
  dumb: {},
  "dumb-init": {},
  tini: {},
  cpulimit: { valued: ["-l", "-p"] },
  perf: { own: 1, valued: ["-e", "-o"] },
  hyperfine: {
    valued: ["-w", "-r", "-m", "-M", "-p", "-c", "--warmup", "--runs", "--export-json", "--export-markdown"],
  },
  npx: { valued: ["-p", "--package", "-w"] },
  bunx: {},
  uvx: { valued: ["--from", "--with", "-p", "--python"] },
  pipx: { own: 1 },
  "cross-env": {},
  dotenv: { valued: ["-e", "-f"] },
  dotenvx: { own: 1 },
  "env-cmd": { valued: ["-f", "-e"] },
  chroot: { own: 1 },
  nsenter: { valued: ["-t", "--target"] },
  unshare: {},
  "systemd-run": { valued: ["-u", "-p", "--unit", "--property", "--on-calendar"] },
  "systemd-inhibit": { valued: ["--what", "--who", "--why", "--mode"] },
  coproc: {},
  entr: {},
  watchexec: { valued: ["-w", "-e", "-i", "-f", "--exts", "--watch", "--ignore"] },
  "aws-vault": { own: 2 },
  rlwrap: {},
  winpty: {},
  doppler: { own: 1 },
  runuser: { valued: ["-u", "-g"] },
};

/** Two words in front of another program: `poetry run X`. */
const RUNNERS: Record<string, RegExp> = {
  poetry: /^run$/,
  pipenv: /^run$/,
  uv: /^run$|^tool$/,
  pdm: /^run$/,
  rye: /^run$/,
  hatch: /^run$/,
  bundle: /^exec$/,
  npm: /^(exec|x)$/,
  pnpm: /^(exec|dlx)$/,
  yarn: /^(exec|dlx)$/,
  bun: /^x$/,
  mise: /^(exec|x)$/,
  asdf: /^exec$/,
  nvm: /^exec$/,
  fnm: /^exec$/,
  conda: /^run$/,
  mamba: /^run$/,
  micromamba: /^run$/,
  volta: /^run$/,
  direnv: /^exec$/,
  op: /^run$/,
  doppler: /^run$/,
  dotenvx: /^run$/,
  nix: /^(run|develop|shell)$/,
  rustup: /^run$/,
  xcrun: /^./,
  corepack: /^./,
  turbo: /^exec$/,
  lerna: /^exec$/,
};

export function prefixed(call: Call): Inner[] | undefined {
  const { program, args } = call;
  const runner = entryOf(RUNNERS, program);
  if (runner !== undefined) return runner.test(args[0] ?? "") ? runnersOf(call) : [];
  const prefix = entryOf(PREFIXES, program);
  if (prefix === undefined) return undefined;
  const words = afterOptions(args, prefix.valued).slice(prefix.own ?? 0);
  return withAssignments(words[0] === "--" ? words.slice(1) : words);
}

function runnersOf({ program, args }: Call): Inner[] {
  const texts = valuesOf(args.slice(1), "-c", "--call", "--command");
  if (texts.length > 0 && program !== "conda") return scriptsOf(...texts);
  const isNamed = /^(xcrun|corepack)$/.test(program);
  const words = afterOptions(args.slice(isNamed ? 0 : 1), [
    "-n",
    "--name",
    "-p",
    "--package",
    "--with",
    "--from",
    "--python",
    "-C",
    "--prefix",
    "--group",
    "--extra",
    "-w",
    "--workspace",
  ]);
  const skipped = /^(nvm|fnm|direnv|rustup)$/.test(program) ? 1 : 0;
  return withAssignments(words.slice(skipped));
}

/** `env A=b cmd`, and whatever else may have variables in front. */
function withAssignments(words: string[]): Inner[] {
  const at = words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word));
  const front = at === -1 ? words : words.slice(0, at);
  const assignments = front.map((word) => ({
    name: word.slice(0, word.indexOf("=")),
    value: word.slice(word.indexOf("=") + 1),
  }));
  return at === -1 ? [] : [{ words: words.slice(at), assignments }];
}

export const environment: LookThrough = ({ args, scope }) => {
  const texts = valuesOf(args, "-S", "--split-string");
  if (texts.length > 0) return scriptsOf([...texts, ...afterOptions(args, ["-S", "-u", "-C"])].join(" "));
  const [folder] = valuesOf(args, "-C", "--chdir");
  const inner = withAssignments(afterOptions(args, ["-u", "--unset", "-C", "--chdir"]));
  return folder === undefined ? inner : inner.map((one) => ({ ...one, cwd: resolvePath(folder, scope) }));
};

export const commandBuiltin: LookThrough = ({ args }) =>
  args.some((arg) => /^-[pvV]*[vV]/.test(arg)) ? [] : wordsOf(afterOptions(args));

/** Programs that hand their words to a shell. */
export const watched: LookThrough = ({ args }) =>
  scriptsOf(afterOptions(args, ["-n", "--interval", "-q"]).join(" "));

export const locked: LookThrough = ({ args }) => {
  const texts = valuesOf(args, "-c", "--command");
  return texts.length > 0
    ? scriptsOf(...texts)
    : wordsOf(afterOptions(args, ["-w", "-E", "--wait", "--timeout"]).slice(1));
};

export const remote: LookThrough = ({ args }) => {
  const proxies = valuesOf(args, "-o").flatMap(
    (option) => /^(?:ProxyCommand|LocalCommand|KnownHostsCommand)[ =](.*)$/is.exec(option)?.[1] ?? [],
  );
  const [, ...words] = afterOptions(args, [
    "-p",
    "-i",
    "-l",
    "-o",
    "-F",
    "-J",
    "-E",
    "-c",
    "-m",
    "-b",
    "-B",
    "-e",
    "-I",
    "-L",
    "-R",
    "-D",
    "-O",
    "-Q",
    "-S",
    "-W",
    "-w",
  ]);
  const script = words.join(" ");
  return [...scriptsOf(...proxies), ...(script.trim() === "" ? [] : [{ script, cwd: "/home/remote" }])];
};

export const switched: LookThrough = ({ args }) =>
  scriptsOf(...valuesOf(args, "-c", "--command", "--session-command"));

export const scripted: LookThrough = ({ args }) =>
  scriptsOf(
    ...args.flatMap((arg, index) =>
      /^-[a-z]*c$|^--command$/.test(arg)
        ? (args[index + 1] ?? "")
        : /^--command=/.test(arg)
          ? arg.slice(10)
          : [],
    ),
  );

export const multiplexed: LookThrough = ({ args, program }) => {
  if (program === "screen") return wordsOf(afterOptions(args, ["-S", "-t", "-c", "-h", "-X", "-p"]));
  const at = args.findIndex((arg) =>
    /^(new|new-session|neww|new-window|splitw|split-window|respawn-\w+|run|run-shell|if-shell|send|send-keys|popup|display-popup)$/.test(
      arg,
    ),
  );
  if (at === -1) return [];
  const words = plainArgs(args.slice(at + 1), [
    "-s",
    "-n",
    "-t",
    "-c",
    "-e",
    "-x",
    "-y",
    "-F",
    "-l",
    "-w",
    "-h",
  ]);
  return scriptsOf(words.filter((word) => !/^(Enter|C-[a-z]|Escape|Space)$/.test(word)).join(" "));
};

export const hyperfined: LookThrough = ({ args }) =>
  scriptsOf(
    ...plainArgs(args, ["-w", "-r", "-m", "-M", "-p", "-c", "--warmup", "--runs"]),
    ...valuesOf(args, "-p", "-c", "--prepare", "--cleanup"),
  );

export const parallel: LookThrough = ({ args, input }) => {
  const at = args.findIndex((arg) => /^:::/.test(arg));
  const template = afterOptions(at === -1 ? args : args.slice(0, at), [
    "-j",
    "--jobs",
    "-a",
    "-I",
    "-N",
    "-n",
    "--delay",
    "--timeout",
    "--colsep",
    "-S",
  ]);
  const values =
    at === -1
      ? (input?.text?.split("\n").filter((line) => line !== "") ?? [UNKNOWN])
      : args.slice(at + 1).filter((arg) => !arg.startsWith(":::"));
  const fill = (value: string): string =>
    template.length === 0
      ? value
      : /\{.*?\}/.test(template.join(" "))
        ? template.join(" ").replace(/\{[./#%\d]*\}/g, value)
        : `${template.join(" ")} ${value}`;
  return scriptsOf(...values.slice(0, 16).map(fill));
};
