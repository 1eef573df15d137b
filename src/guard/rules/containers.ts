import { hasFlag, plainArgs, valuesOf } from "../args.js";
import type { Call } from "../call.js";
import { entryOf } from "../entry.js";
import { type Judged, refuse, warn } from "../finding.js";
import { namesIn } from "../list.js";
import { isInside, resolvePath } from "../paths.js";
import { protection } from "../protected.js";
import { secretAt } from "../secret-files.js";
import type { Rule } from "./rule.js";

export const containers: Rule = {
  category: "containers",
  judge: (call) => entryOf(JUDGES, call.program)?.(call) ?? socket(call),
};

const JUDGES: Record<string, (call: Call) => Judged | undefined> = {
  docker: engine,
  podman: engine,
  nerdctl: engine,
  "docker-compose": engine,
  nsenter: () => refuse("it enters other namespaces"),
  chroot: () => refuse("it changes the root folder"),
  pivot_root: () => refuse("it changes the root folder"),
  unshare: () => refuse("it makes namespaces"),
  runc: () => refuse("it starts containers past docker"),
  ctr: () => refuse("it starts containers past docker"),
  crictl: ({ args }) =>
    /^(exec|run|runp|create)$/.test(plainArgs(args)[0] ?? "")
      ? refuse("it starts containers past docker")
      : undefined,
  lxc: unconfined,
  incus: unconfined,
  mount: ({ args }) =>
    args.length === 0 || hasFlag(args, "lV", "--help") ? undefined : refuse("it mounts file systems"),
  umount: () => refuse("it unmounts file systems"),
  kubectl: ({ args }) => {
    const isOpen =
      args.some((arg) => /"?(hostPID|hostNetwork|privileged|hostPath)"?\s*[:=]/.test(arg)) ||
      args.includes("--privileged");
    if (isOpen) return refuse("it starts a pod with rights on its machine");
    if (args.includes("nsenter")) return refuse("it enters other namespaces");
    if (args.includes("exec") && removesRoot(args))
      return { ...refuse("it removes all that a container has"), category: "files" };
    return args[0] === "debug" && args.some((arg) => arg.startsWith("node/"))
      ? refuse("it enters the machine of a cluster")
      : undefined;
  },
};

function unconfined({ args }: Call): Judged | undefined {
  return args.some((arg) => /^(security\.privileged=true|raw\.\w+=|source=\/$)/.test(arg))
    ? refuse("the container gets rights on this machine")
    : undefined;
}

/** `rm -r /` among the words, also inside of one. */
function removesRoot(args: string[]): boolean {
  const words = args.join(" ").split(/[\s;&|"']+/);
  const at = words.findIndex((word) => word === "rm" || word.endsWith("/rm"));
  const rest = at === -1 ? [] : words.slice(at + 1);
  return hasFlag(rest, "rR", "--recursive") && rest.some((word) => word === "/" || word === "/*");
}

const RUNS = /^(run|create|exec|up|service)$/;

function engine(call: Call): Judged | undefined {
  const { args } = call;
  const words = plainArgs(args, ["-H", "--host", "--context", "-c", "-f", "--file", "-p", "--project-name"]);
  const [first = "", second = ""] =
    words[0] === "container" || words[0] === "compose" ? words.slice(1) : words;
  if (valuesOf(args, "-H", "--host").some((host) => /^tcp:\/\/(?!localhost|127)/.test(host)))
    return refuse("it steers docker on another machine");
  if (first === "exec" && removesRoot(args))
    return { ...refuse("it removes all that a container has"), category: "files" };
  if (RUNS.test(first)) return opened(args) ?? mounted(call) ?? beyondOne(args, words);
  const loses =
    /^(system|volume|image|container|builder|network)$/.test(words[0] ?? "") &&
    /^(prune|rm)$/.test(words[1] ?? "");
  if (loses && /^(volume|system)$/.test(words[0] ?? "")) return warn("it removes what containers keep");
  return second === "" || first !== "down" || !hasFlag(args, "v", "--volumes")
    ? beyondOne(args, words)
    : warn("it removes what containers keep");
}

/** What is about more than a container of this machine. */
function beyondOne(args: string[], words: string[]): Judged | undefined {
  if (valuesOf(args, "--allow").some((right) => right.includes("insecure")))
    return refuse("what is built gets rights on this machine");
  return GONE.has(`${words[0]}+${words[1]}`)
    ? { ...refuse("it removes what runs elsewhere"), category: "cloud" }
    : undefined;
}

const GONE = namesIn("stack+rm stack+remove stack+down swarm+leave service+rm service+remove");
const CAPABILITIES = /^(CAP_)?(ALL|SYS_\w+|DAC_\w+|NET_ADMIN|NET_RAW|SETUID|MKNOD)$/i;

/** Flags stand before the image; what comes after is for the program inside. */
function opened(args: string[]): Judged | undefined {
  if (hasFlag(args, "", "--privileged") && !args.includes("--privileged=false"))
    return refuse("a privileged container has all rights on this machine");
  const shared = valuesOf(args, "--pid", "--ipc", "--uts", "--userns", "--cgroupns").some(
    (value) => value === "host",
  );
  if (shared) return refuse("the container shares namespaces with this machine");
  if (valuesOf(args, "--cap-add").some((value) => CAPABILITIES.test(value)))
    return refuse("the container gets rights on this machine");
  if (valuesOf(args, "--security-opt").some((value) => /unconfined|disable/.test(value)))
    return refuse("the container is not confined");
  return valuesOf(args, "--device").some((value) => !/^\/dev\/(dri|kvm|snd|video|null|fuse)/.test(value))
    ? refuse("the container gets a device of this machine")
    : undefined;
}

function mounted(call: Call): Judged | undefined {
  const volumes = valuesOf(call.args, "-v", "--volume").map((value) => value.split(":")[0] ?? "");
  const mounts = valuesOf(call.args, "--mount").map(
    (value) => /(?:source|src)=([^,]*)/.exec(value)?.[1] ?? "",
  );
  const source = [...volumes, ...mounts]
    .filter((path) => /^[/.~\uE0FF]/.test(path))
    .find((path) => isOpenPath(path, call));
  return source === undefined ? undefined : refuse(`the container gets ${source} of this machine`);
}

function isOpenPath(path: string, { scope }: Call): boolean {
  const resolved = resolvePath(path, scope);
  if (resolved.endsWith("docker.sock") || isInside(scope.place.home, resolved)) return true;
  if (isInside(resolved, scope.place.workspace) && !resolved.includes("/.git/")) return false;
  if (/^\/(etc\/(localtime|timezone|ssl\/certs|ca-certificates)|usr\/share\/zoneinfo)/.test(resolved))
    return false;
  return (
    protection(path, scope) !== undefined ||
    secretAt(path, scope) !== undefined ||
    /^\/(dev|proc|sys|run)?$/.test(resolved)
  );
}

const SHOWS = namesIn("ls stat test [ echo printf grep");

function socket({ args, program }: Call): Judged | undefined {
  if (SHOWS.has(program)) return undefined;
  return args.some((arg) => arg.includes(".sock") && /(docker|containerd|podman|crio)\.sock/.test(arg))
    ? refuse("it steers docker through its socket")
    : undefined;
}
