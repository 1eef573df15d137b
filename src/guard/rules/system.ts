import { hasFlag, plainArgs } from "../args.js";
import type { Call } from "../call.js";
import { entryOf } from "../entry.js";
import { type Judged, refuse } from "../finding.js";
import { namesIn, rowOf } from "../list.js";
import type { Rule } from "./rule.js";

const ALWAYS = namesIn(`
  useradd adduser usermod userdel deluser groupadd addgroup groupmod groupdel delgroup gpasswd passwd
  chpasswd chsh chfn vipw vigr update-rc.d chkconfig ldconfig setenforce aa-disable aa-complain
  aa-teardown apt-key add-apt-repository dpkg-reconfigure netplan nmcli nmtui csrutil spctl nvram scutil
  networksetup systemsetup dscl sysadminctl hwclock update-alternatives update-initramfs dracut authconfig
  pam-auth-update auditctl kextload loginctl firewall-cmd pfctl ebtables ipset visudo reg schtasks
  iptables-restore ip6tables-restore nft
`);

/** What such a program may be asked without changing anything; a `-` at the end stands for whatever follows. */
const LOOKS = `
  ufw status version --version show
  systemctl status start is- list- show cat --version get-default show-environment help
  service status start --status-all
  launchctl list print help version
  hostnamectl status --help
  timedatectl status show list-timezones
  localectl status list-
  resolvectl status query statistics
  defaults read find domains help read-type
  crontab -l
`;

/** Start and stop what runs on the machine. */
const SCRIPTS = ["/etc/init.d/", "/etc/rc.d/"];

export const system: Rule = {
  category: "system",
  judge(call) {
    const { program, args } = call;
    if (hasFlag(args, "", "--help", "--version")) return undefined;
    if (ALWAYS.has(program)) return refuse(`${program} changes the system`);
    if (SCRIPTS.some((folder) => call.words[0]?.startsWith(folder)) && args[0] !== "status")
      return refuse("it changes what runs on this machine");
    const looks = rowOf(LOOKS, program);
    const isQuestion = args.length === 0 && program.endsWith("ctl");
    if (looks !== undefined && !isQuestion && !looks.some((look) => isLook(call, look)))
      return refuse(`${program} changes the system`);
    return entryOf(JUDGES, program)?.(call);
  },
};

/** A flag anywhere, or the word that says what is to be done. */
function isLook({ program, args }: Call, look: string): boolean {
  if (look.startsWith("-")) return args.includes(look);
  const words = plainArgs(args, ["-p", "-n", "-t", "-u", "--property", "--type", "--output"]);
  const word = words[program === "service" ? 1 : 0] ?? "";
  return word === look || (look.endsWith("-") && word.startsWith(look));
}

const JUDGES: Record<string, (call: Call) => Judged | undefined> = {
  sysctl: ({ args }) =>
    hasFlag(args, "wp", "--write", "--load", "--system") || args.some((arg) => arg.includes("="))
      ? refuse("it changes the kernel")
      : undefined,
  date: ({ args }) =>
    hasFlag(args, "s", "--set") && !hasFlag(args, "d", "--date") ? refuse("it sets the clock") : undefined,
  iptables: firewall,
  ip6tables: firewall,
  hostname: ({ args }) => (plainArgs(args).length > 0 ? refuse("it renames the machine") : undefined),
  ifconfig: ({ args }) =>
    args.some((arg) => /^(up|down|netmask|add|del|\d+\.\d+.*)$/.test(arg))
      ? refuse("it changes the network")
      : undefined,
  ip: ({ args }) =>
    args.some((arg) => /^(add|del|delete|set|flush|replace|change)$/.test(arg))
      ? refuse("it changes the network")
      : undefined,
  tc: ({ args }) =>
    args.some((arg) => /^(add|del|delete|change|replace)$/.test(arg))
      ? refuse("it changes the network")
      : undefined,
  route: ({ args }) =>
    args.some((arg) => /^(add|del|delete|flush|change)$/.test(arg))
      ? refuse("it changes the network")
      : undefined,
  apt: packages,
  "apt-get": packages,
  dpkg: ({ args }) =>
    hasFlag(args, "rP", "--remove", "--purge", "--force-all")
      ? refuse("it removes programs of the system")
      : undefined,
  yum: packages,
  dnf: packages,
  zypper: packages,
  pacman: ({ args }) =>
    args.some((arg) => /^-R/.test(arg)) ? refuse("it removes programs of the system") : undefined,
};

function firewall({ args }: Call): Judged | undefined {
  return args.some((arg) => /^(-[A-Za-z]*[LS]|--list.*)$/.test(arg))
    ? undefined
    : refuse("it changes the network");
}

function packages({ args }: Call): Judged | undefined {
  const [verb = ""] = plainArgs(args, ["-o", "-c", "-t"]);
  return /^(remove|purge|autoremove|erase|dist-upgrade|full-upgrade)$/.test(verb)
    ? refuse("it removes programs of the system")
    : undefined;
}
