// What the tests need beside Node and npm, and which of them are left out where it is missing.
import { accessSync, constants, existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";

/** No program: where it lies differs between systems. */
export function bashCompletion({ BASH_COMPLETION = "/usr/share/bash-completion/bash_completion" }) {
  return BASH_COMPLETION;
}

/** Debian keeps its programs away from PATH. */
function postgres({ POSTGRES_INITDB }) {
  const folder = "/usr/lib/postgresql";
  const found = existsSync(folder) ? readdirSync(folder).map((version) => join(folder, version, "bin")) : [];
  return (
    POSTGRES_INITDB ??
    found.map((bin) => join(bin, "initdb")).find((path) => existsSync(path)) ??
    "/usr/bin/initdb"
  );
}

/** `programs`: any one of them will do. `suites`: globs of vitest. */
const NEEDS = [
  { package: "git", programs: ["git"], suites: ["test/**"] },
  { package: "procps", programs: ["ps"], suites: ["test/process/**"] },
  { package: "util-linux", programs: ["setpriv"], suites: ["test/records/lock.test.ts"], platform: "linux" },
  {
    package: "bsdutils",
    programs: ["script"],
    suites: ["test/commands/limits.test.ts", "test/docs.test.ts", "test/shells/**"],
  },
  {
    package: "tmux",
    programs: ["tmux"],
    suites: ["test/docs.test.ts", "test/terminal/**", "test/workers/**"],
  },
  { package: "bubblewrap", programs: ["bwrap"], suites: ["test/sandbox/srt/**"], platform: "linux" },
  { package: "socat", programs: ["socat"], suites: ["test/sandbox/srt/**"], platform: "linux" },
  { package: "ripgrep", programs: ["rg"], suites: ["test/sandbox/srt/**"], platform: "linux" },
  { package: "curl", programs: ["curl"], suites: ["test/sandbox/srt/**"], platform: "linux" },
  {
    package: "redis-server",
    programs: ["redis-server"],
    suites: ["test/fleet/**", "test/faults/fleet*"],
    platform: "linux",
  },
  {
    package: "postgresql",
    file: postgres,
    suites: ["test/fleet/**", "test/faults/fleet*"],
    platform: "linux",
  },
  { package: "bash", programs: ["bash"], suites: ["test/shells/bash.test.ts"] },
  { package: "bash-completion", file: bashCompletion, suites: ["test/shells/bash-completion.test.ts"] },
  { package: "zsh", programs: ["zsh"], suites: ["test/shells/zsh.test.ts"] },
  { package: "fish", programs: ["fish"], suites: ["test/shells/fish.test.ts"] },
  {
    package: "chromium",
    programs: ["chromium", "chromium-browser", "google-chrome"],
    suites: ["test/browser/**"],
  },
];

/** Suites that look into what only Linux has: `/proc`, mounts, `setpriv`. */
const LINUX_ONLY = [
  "test/faults/**",
  "test/fleet/**",
  "test/process/**",
  "test/records/lock.test.ts",
  "test/commands/disk.test.ts",
  "test/commands/limits.test.ts",
  "test/sandbox/srt/**",
];

export function missingNeeds(env = process.env) {
  const isHere = ({ file, programs = [] }) =>
    file === undefined ? programs.some((name) => isOnPath(name, env.PATH ?? "")) : existsSync(file(env));
  return NEEDS.filter((need) => (need.platform ?? process.platform) === process.platform && !isHere(need));
}

/** Tests that mount small disks or become another user say so themselves; as root none of them is left out. */
export const ROOT_ONLY = [
  "test/commands/disk.test.ts",
  "parts of test/commands/usage and protected-end, test/setup/doctor, test/process/table, test/records/journal, lock and log",
];

/** Globs of the suites that cannot run here. With CI set, leaving one out is an error. */
export function leftOutSuites(env = process.env) {
  const missing = missingNeeds(env);
  if (isCi(env) && missing.length > 0) {
    throw new Error(`the tests need ${missing.map((need) => need.package).join(", ")}`);
  }
  const elsewhere = process.platform === "linux" ? [] : LINUX_ONLY;
  return [...missing.flatMap(({ suites }) => suites), ...elsewhere];
}

/** As most tools read it: set, and not to `false`. */
export function isCi({ CI = "" }) {
  return CI !== "" && CI !== "false" && CI !== "0";
}

function isOnPath(program, path) {
  return path.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
