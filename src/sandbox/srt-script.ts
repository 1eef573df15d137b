import { RalphError } from "../errors.js";
import type { Command } from "../process/run.js";
import { quoteWord } from "../words.js";
import type { Network } from "./hosts.js";

export interface InsideOptions {
  command: Pick<Command, "file" | "args">;
  temp: string;
  network: Pick<Network, "ports" | "reachesMachine">;
  /** Restores the default action of signals that the sandbox ignores. */
  restoresSignals: boolean;
  platform: NodeJS.Platform;
  /** The command's PATH, if it differs from that of ralph's own programs. */
  path: string | undefined;
}

/** The shell script that starts inside and runs the command. */
export function insideScript(options: InsideOptions): string {
  const { command, temp, network, restoresSignals, platform, path } = options;
  const { ports, reachesMachine } = network;
  const isLinux = platform === "linux";
  const withPath = path === undefined ? [] : ["env", `PATH=${path}`];
  const locked = isLinux && process.getuid?.() === 0 ? LOCKED : [];
  const words = [...locked, ...withPath, command.file, ...command.args].map(quoteWord).join(" ");
  return [
    ...["TMPDIR", "TMP", "TEMP", "CLAUDE_CODE_TMPDIR"].map((name) => `export ${name}=${quoteWord(temp)}`),
    ...(reachesMachine ? ["export NO_PROXY= no_proxy="] : []),
    ...(isLinux && ports.length > 0 ? forwarding(ports) : []),
    // The shell ignores SIGTERM, outlives the command, and prints nothing about its end.
    ...(restoresSignals
      ? ["exec 3>&2 2>/dev/null", `(exec env --default-signal=TERM ${words} 2>&3 3>&-)`, "exit $?"]
      : [`exec ${words}`]),
    "",
  ].join("\n");
}

/** Inside a namespace, not even root can undo or repeat a mount from outside. */
const LOCKED = ["unshare", "--user", "--map-root-user", "--mount", "--"];

/** Unix sockets cannot be opened inside, so the traffic goes through the proxy, which knows these ports. */
function forwarding(ports: number[]): string[] {
  const entry = (port: number): string =>
    `:${port.toString(16).toUpperCase().padStart(4, "0")} 00000000:0000 0A`;
  return [
    "proxy=$" + "{HTTP_PROXY#http://}",
    "proxy=$" + "{proxy%@*}",
    ...ports.map(
      (port) =>
        `socat TCP-LISTEN:${port},bind=127.0.0.1,fork,reuseaddr PROXY:localhost:127.0.0.1:${port},proxyport=3128,proxyauth="$proxy" </dev/null >/dev/null 2>&1 &`,
    ),
    // Waits until socat listens, for a second at most.
    ...ports.map(
      (port) =>
        `for _ in 1 2 3 4 5 6 7 8 9 10; do grep -q '${entry(port)}' /proc/net/tcp && break; sleep 0.1; done`,
    ),
  ];
}

/** A descriptor that ralph inherited could be a folder outside, or be writable. */
const CLOSE_INHERITED =
  "for fd in /dev/fd/*; do fd=$" +
  '{fd##*/}; case $fd in [012]|*[!0-9]*) ;; *) eval "exec $fd>&-";; esac; done';

const LAST_FLAGS = " --proc /proc -- ";

/** Files by which root steers the kernel of all of the machine, whatever else a sandbox takes away. */
const KERNEL = ["sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "mtrr"];

/**
 * The script of the shell outside, which becomes bubblewrap or Seatbelt: the command of the library, with more flags
 * of bubblewrap.
 */
export function outsideScript(
  wrapped: string,
  {
    mounts,
    restoresSignals,
    platform,
  }: Pick<InsideOptions, "restoresSignals" | "platform"> & {
    mounts: string[];
  },
): string {
  // The whole tree gets SIGTERM: bubblewrap must not end before the agent has had its time.
  const ignore = restoresSignals ? "trap '' TERM\n" : "";
  const head = `${CLOSE_INHERITED}\n${ignore}exec`;
  if (platform !== "linux") return `${head} ${wrapped} `;
  const last = wrapped.indexOf(LAST_FLAGS);
  if (last === -1)
    throw new RalphError("the sandbox srt cannot be made: its library starts bubblewrap in an unknown way", {
      code: "sandbox_failed",
      hint: "install the version that ralph names; --no-sandbox runs without it",
    });
  const kernel = KERNEL.flatMap((name) => ["--ro-bind-try", `/proc/${name}`, `/proc/${name}`]);
  // Memory and queues that programs share are those of this sandbox alone.
  const more = ["--proc", "/proc", "--unshare-ipc", ...mounts, ...kernel].map(quoteWord).join(" ");
  return `${head} ${wrapped.slice(0, last)} ${more} -- ${wrapped.slice(last + LAST_FLAGS.length)}`;
}
