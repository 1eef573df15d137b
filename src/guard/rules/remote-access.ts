import { hasFlag, plainArgs, valuesOf } from "../args.js";
import type { Call } from "../call.js";
import { entryOf } from "../entry.js";
import { type Judged, refuse } from "../finding.js";
import { namesIn } from "../list.js";
import { isLocal } from "./hosts.js";
import type { Rule } from "./rule.js";

export const remoteAccess: Rule = {
  category: "remote-access",
  judge(call) {
    const socket = [...call.redirections.map(({ target }) => target), ...call.args].find((word) =>
      ["/dev/tcp/", "/dev/udp/"].some((start) => word.startsWith(start)),
    );
    if (socket !== undefined) return refuse(`${socket} is a connection to another machine`);
    if (TUNNELS.has(call.program) && !isQuestion(call.args))
      return refuse(`${call.program} opens this machine to others`);
    return entryOf(JUDGES, call.program)?.(call);
  },
};

function isQuestion(args: string[]): boolean {
  return hasFlag(args, "", "--version", "--help") || /^(version|help)$/.test(args[0] ?? "");
}

const TUNNELS = namesIn(`
  ngrok localtunnel lt bore frpc frps chisel zrok pagekite inlets autossh sshuttle sshd dropbear telnetd
  in.telnetd vncserver x11vnc tigervncserver tmate gotty ttyd wetty ssh-copy-id msfvenom msfconsole pwncat
  pwncat-cs rlogin rsh localxpose loclx xfreerdp teamviewer anydesk gsocket gs-netcat iodine dnscat2
  revsocks ztcp
`);

const JUDGES: Record<string, (call: Call) => Judged | undefined> = {
  nc: connected,
  ncat: connected,
  netcat: connected,
  "nc.openbsd": connected,
  "nc.traditional": connected,
  telnet: ({ args }) =>
    plainArgs(args).slice(0, 1).every(isLocal) ? undefined : refuse("it connects to another machine"),
  socat: ({ args }) => joined(args),
  ssh: forwarded,
  cloudflared: ({ args }) =>
    /^(version|--version|help|--help|update)$/.test(args[0] ?? "help")
      ? undefined
      : refuse("it opens this machine to others"),
  tailscale: ({ args }) =>
    /^(up|funnel|serve|ssh|set)$/.test(args[0] ?? "") ? refuse("it opens this machine to others") : undefined,
  code: ({ args }) => (args[0] === "tunnel" ? refuse("it opens this machine to others") : undefined),
  devtunnel: ({ args }) => (args[0] === "host" ? refuse("it opens this machine to others") : undefined),
  wg: ({ args }) => (args[0] === "set" ? refuse("it changes a tunnel") : undefined),
  "wg-quick": () => refuse("it opens a tunnel"),
  openvpn: () => refuse("it opens a tunnel"),
  ...Object.fromEntries(["bash", "sh", "zsh", "dash", "ksh", "ash"].map((name) => [name, interactive])),
};

function connected({ args, input, program }: Call): Judged | undefined {
  if (hasFlag(args, "ec", "--exec", "--sh-exec", "--lua-exec"))
    return refuse(`${program} gives a program to whoever connects`);
  if (hasFlag(args, "z")) return undefined;
  const [host = ""] = plainArgs(args, ["-p", "-w", "-s", "-X", "-x", "-i", "-q"]);
  if (hasFlag(args, "l", "--listen"))
    return input === undefined
      ? refuse("it waits for connections")
      : refuse("it gives what it reads to whoever connects");
  return isLocal(host) || host === "" || hasFlag(args, "U")
    ? undefined
    : refuse("it connects to another machine");
}

function joined(args: string[]): Judged | undefined {
  const addresses = plainArgs(args);
  if (addresses.some((address) => /^(exec|system|shell):/i.test(address)))
    return refuse("it gives a program to whoever connects");
  const isRemote = (address: string): boolean =>
    !/^(-|stdio|stdin|stdout|unix|open|file|gopen|pty|pipe|create)/i.test(address) &&
    !isLocal(address.replace(/^[\w-]+:/, ""));
  return addresses.some(isRemote) ? refuse("it connects this machine to another") : undefined;
}

const FORWARDS = /(^|[\s,])(RemoteForward|LocalForward|DynamicForward|Tunnel|PermitLocalCommand)[ =]/i;

function forwarded({ args }: Call): Judged | undefined {
  const own = args.slice(
    0,
    Math.max(
      args.findIndex((arg, index) => !arg.startsWith("-") && !takesValue(args[index - 1])),
      0,
    ),
  );
  const flags =
    own.length === 0
      ? args
      : [...own, ...args.filter((arg) => /^-[46AaCfGgKkMNnqsTtVvXxYy]*[RLDw]\S*$/.test(arg))];
  if (flags.some((arg) => /^-[46AaCfGgKkMNnqsTtVvXxYy]*[RLDw]/.test(arg)))
    return refuse("it forwards ports between machines");
  return valuesOf(args, "-o").some((option) => FORWARDS.test(option))
    ? refuse("it forwards ports between machines")
    : undefined;
}

function takesValue(flag = ""): boolean {
  return /^-[BbcDEeFIiJLlmOopQRSWw]$/.test(flag);
}

/** A shell that talks to something else than a terminal. */
function interactive({ args, input, readers, redirections }: Call): Judged | undefined {
  if (!hasFlag(args, "i") || args.some((arg) => /^-[a-z]*c/.test(arg))) return undefined;
  const isElsewhere =
    input !== undefined || readers.length > 0 || redirections.some(({ target }) => !/^\d$/.test(target));
  return isElsewhere ? refuse("an interactive shell is handed to something else") : undefined;
}
