import { constants } from "node:os";
import { RalphError } from "../errors.js";
import type { Command } from "../process/run.js";
import { quoteWord } from "../words.js";
import type { Network } from "./hosts.js";

export interface InsideOptions {
  command: Pick<Command, "file" | "args">;
  /** The folder for temporary files. */
  temp: string;
  network: Pick<Network, "ports" | "reachesMachine">;
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
export function insideScript(options: InsideOptions): string {
  const { command, temp, network, restoresSignals, platform, kernelTable, note, path } = options;
  const { ports, reachesMachine } = network;
  const withPath = path === undefined ? [] : ["env", `PATH=${path}`];
  const locked = kernelTable === undefined ? [] : LOCKED;
  const words = [...locked, ...withPath, command.file, ...command.args].map(quoteWord).join(" ");
  return [
    ...["TMPDIR", "TMP", "TEMP", "CLAUDE_CODE_TMPDIR"].map((name) => `export ${name}=${quoteWord(temp)}`),
    ...(reachesMachine ? ["export NO_PROXY= no_proxy="] : []),
    ...(platform === "linux" && ports.length > 0 ? forwarding(ports) : []),
    ...(kernelTable === undefined ? [] : [`mount --all --fstab ${quoteWord(kernelTable)} || exit 126`]),
    // The shell outlives the command, as it ignores SIGTERM.
    ...(restoresSignals
      ? [`exec 3>&2 2>${quoteWord(note)}`, `(exec env --default-signal=TERM ${words} 2>&3 3>&-)`, "exit $?"]
      : [`exec ${words}`]),
    "",
  ].join("\n");
}

/** What was mounted outside of a namespace cannot be undone in it, nor be seen anew. */
const LOCKED = ["unshare", "--user", "--map-root-user", "--mount", "--"];

/** Files by which root steers the kernel of all of the machine, whatever else a sandbox takes away. */
const KERNEL = ["sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "mtrr"];

/** What `mount` makes read-only, of those that are there. */
export function readOnlyKernel(isThere: (path: string) => boolean): string {
  const paths = KERNEL.map((name) => `/proc/${name}`).filter(isThere);
  return paths.map((path) => `${path} ${path} none bind,ro,nosuid,nodev,noexec 0 0\n`).join("");
}

/** Sockets of the file system cannot be opened inside, so it goes through the proxy, which knows these ports. */
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
    // Waits until socat listens, a second at the most.
    ...ports.map(
      (port) =>
        `for _ in 1 2 3 4 5 6 7 8 9 10; do grep -q '${entry(port)}' /proc/net/tcp && break; sleep 0.1; done`,
    ),
  ];
}

export interface OutsideOptions {
  /** The command of the library. */
  wrapped: string;
  /** File with the filter of `kernelFilter`. */
  filter: string | undefined;
  /** File with more flags of bubblewrap, each ended by a NUL. */
  mounts: string;
  restoresSignals: boolean;
  platform: NodeJS.Platform;
}

/** A file that ralph was started with could be a folder outside, or be open for writing. */
const CLOSE_INHERITED =
  "for fd in /dev/fd/*; do fd=$" +
  '{fd##*/}; case $fd in [012]|*[!0-9]*) ;; *) eval "exec $fd>&-";; esac; done';

/** The library uses the ninth. */
const [MOUNTS_FD, FILTER_FD] = [7, 8];
const FIRST_FLAGS = "--new-session --die-with-parent";
/** What comes after all mounts of the library. */
const AFTER_MOUNTS = " --dev /dev --unshare-pid ";

/** The script of the shell outside, which becomes bubblewrap or Seatbelt. */
export function outsideScript(options: OutsideOptions): string {
  const { wrapped, filter, mounts, restoresSignals, platform } = options;
  // The whole tree gets SIGTERM: bubblewrap must not end before the agent has had its time.
  const ignore = restoresSignals ? "trap '' TERM\n" : "";
  const head = `${CLOSE_INHERITED}\n${ignore}exec`;
  if (platform !== "linux") return `${head} ${wrapped} `;
  const last = wrapped.lastIndexOf(AFTER_MOUNTS);
  if (!wrapped.includes(FIRST_FLAGS) || last === -1)
    throw new RalphError(
      "the sandbox srt cannot be made: its library starts bubblewrap in a way that is not known",
      {
        code: "sandbox_failed",
        hint: "install the version that ralph names; --no-sandbox goes without it",
      },
    );
  // What the library does not ask for: memory and queues that programs share are those of this sandbox alone.
  const more = `--unshare-ipc ${filter === undefined ? "" : `--seccomp ${FILTER_FD} `}`;
  const mounted = `${wrapped.slice(0, last)} --args ${MOUNTS_FD}${wrapped.slice(last)}`;
  const files = [
    `${MOUNTS_FD}<${quoteWord(mounts)}`,
    ...(filter ? [`${FILTER_FD}<${quoteWord(filter)}`] : []),
  ];
  return `${head} ${mounted.replace(FIRST_FLAGS, () => `${more}${FIRST_FLAGS}`)} ${files.join(" ")}`;
}

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

/** Of `struct seccomp_data`. */
const [NUMBER, MACHINE, FIRST_ARGUMENT] = [0, 4, 16];
const [LOAD, JUMP_IF_EQUAL, JUMP_IF_AT_LEAST, RETURN] = [0x20, 0x15, 0x35, 0x06];
const [ALLOWED, REFUSED] = [0x7fff0000, 0x00050000];
const VSOCK = 40;
/** The same calls again, by other numbers. */
const X32 = 0x40000000;
const INSTRUCTION_BYTES = 8;

/** `add_key`, `request_key` and `keyctl`. */
const NUMBERS: Record<string, { machine: number; socket: number; keys: number[] }> = {
  x64: { machine: 0xc000003e, socket: 41, keys: [248, 249, 250] },
  arm64: { machine: 0xc00000b7, socket: 198, keys: [217, 218, 219] },
};

/**
 * What no namespace holds back, as a filter for `bwrap --seccomp`: keys of the user's session are inherited, and
 * sockets of virtual machines reach the machine around this one. undefined: a processor that is not known here.
 */
export function kernelFilter(arch: string): Buffer | undefined {
  const known = NUMBERS[arch];
  if (known === undefined) return undefined;
  const { machine, socket, keys } = known;
  const refuse = (error: number): Instruction => [RETURN, 0, 0, REFUSED + error];
  const { ENOSYS, EPERM, EAFNOSUPPORT } = constants.errno;
  const instructions: Instruction[] = [
    [LOAD, 0, 0, MACHINE],
    [JUMP_IF_EQUAL, 1, 0, machine],
    // Programs for another processor call all of this by other numbers.
    refuse(ENOSYS),
    [LOAD, 0, 0, NUMBER],
    [JUMP_IF_AT_LEAST, 0, 1, X32],
    refuse(ENOSYS),
    ...keys.flatMap((key): Instruction[] => [[JUMP_IF_EQUAL, 0, 1, key], refuse(EPERM)]),
    [JUMP_IF_EQUAL, 0, 3, socket],
    [LOAD, 0, 0, FIRST_ARGUMENT],
    [JUMP_IF_EQUAL, 0, 1, VSOCK],
    refuse(EAFNOSUPPORT),
    [RETURN, 0, 0, ALLOWED],
  ];
  const bytes = Buffer.alloc(instructions.length * INSTRUCTION_BYTES);
  for (const [index, [code, ifTrue, ifFalse, value]] of instructions.entries()) {
    const at = bytes.writeUInt16LE(code, index * INSTRUCTION_BYTES);
    bytes.writeUInt32LE(value, bytes.writeUInt8(ifFalse, bytes.writeUInt8(ifTrue, at)));
  }
  return bytes;
}
