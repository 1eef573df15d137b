import type { Command } from "../process/run.js";
import { quoteWord } from "../words.js";

export interface Start {
  command: Pick<Command, "file" | "args">;
  /** The folder for temporary files. */
  temp: string;
  /** Ports of this machine that are reached under the same number inside. */
  ports: number[];
  /** All of this machine is reached through the proxy, in place of the loopback inside. */
  reachesMachine: boolean;
  /** Signals that were ignored on the way in are taken as usual again. */
  restoresSignals: boolean;
  platform: NodeJS.Platform;
  /** File with the table of `readOnlyKernel`, where the user is root on Linux. */
  kernelTable: string | undefined;
  /** File in which the shell says that a signal has ended the command: its exit code alone could be the command's own. */
  note: string;
  /** PATH of the command, where it is not that of ralph's own programs. */
  path: string | undefined;
}

/** The shell script that is started inside, and runs the command. */
export function startScript(start: Start): string {
  const { command, temp, ports, restoresSignals, reachesMachine, platform, note } = start;
  const { kernelTable, path } = start;
  const withPath = path === undefined ? [] : ["env", `PATH=${path}`];
  const words = [...(kernelTable === undefined ? [] : LOCKED), ...withPath, command.file, ...command.args]
    .map(quoteWord)
    .join(" ");
  return [
    ...["TMPDIR", "TMP", "TEMP", "CLAUDE_CODE_TMPDIR"].map((name) => `export ${name}=${quoteWord(temp)}`),
    ...(reachesMachine ? ["export NO_PROXY= no_proxy="] : []),
    ...(platform === "linux" && ports.length > 0 ? forwarding(ports) : []),
    ...(kernelTable === undefined ? [] : [`mount --all --fstab ${quoteWord(kernelTable)} || exit 126`]),
    ...(restoresSignals ? withNote(`env --default-signal=TERM ${words}`, note) : [`exec ${words}`]),
    "",
  ].join("\n");
}

/** Files by which root steers the kernel of all of the machine, whatever else a sandbox takes away. */
const KERNEL = ["sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "mtrr"];

/** What `mount` makes read-only, of those that are there. */
export function readOnlyKernel(isThere: (path: string) => boolean): string {
  const paths = KERNEL.map((name) => `/proc/${name}`).filter(isThere);
  return paths.map((path) => `${path} ${path} none bind,ro,nosuid,nodev,noexec 0 0\n`).join("");
}

/** What was mounted outside of a namespace cannot be undone in it, nor be seen anew. */
const LOCKED = ["unshare", "--user", "--map-root-user", "--mount", "--"];

/** The shell outlives the command, as it takes no notice of SIGTERM. */
function withNote(words: string, note: string): string[] {
  return [`exec 3>&2 2>${quoteWord(note)}`, `(exec ${words} 2>&3 3>&-)`, "exit $?"];
}

/** Sockets of the file system cannot be opened inside, so it goes through the proxy, which knows these ports. */
function forwarding(ports: number[]): string[] {
  return [
    "proxy=$" + "{HTTP_PROXY#http://}",
    "proxy=$" + "{proxy%@*}",
    ...ports.map(
      (port) =>
        `socat TCP-LISTEN:${port},bind=127.0.0.1,fork,reuseaddr PROXY:localhost:127.0.0.1:${port},proxyport=3128,proxyauth="$proxy" </dev/null >/dev/null 2>&1 &`,
    ),
    ...ports.map(listening),
  ];
}

/** Waits a second at the most. */
function listening(port: number): string {
  const entry = `:${port.toString(16).toUpperCase().padStart(4, "0")} 00000000:0000 0A`;
  return `for _ in 1 2 3 4 5 6 7 8 9 10; do grep -q '${entry}' /proc/net/tcp && break; sleep 0.1; done`;
}
