import {
  accessSync,
  constants,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  statSync,
} from "node:fs";
import { userInfo } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { StateFolder } from "../agents/agent.js";
import { AGENT_NAMES, agentFor } from "../agents/index.js";
import { RalphError } from "../errors.js";
import { makeFolders, makePrivateFolder, realPlace } from "../records/files.js";
import { hiddenFolder, pipesFolder } from "../records/home.js";
import { git } from "../workspace/git.js";
import { ACTIVE_FILE, prepareRuntimeFolder, RUNTIME_FOLDER } from "../workspace/runtime.js";
import { gitFiles } from "./git-files.js";
import { type HeldPath, type HeldPaths, hold, isBehindLink, isLink, removeStandIns } from "./held.js";
import type { SandboxCall, SandboxScope, SandboxSpec } from "./sandbox.js";

/** What ralph, or other programs of the user, obey in a project. */
const OBEYED = [
  ...[".agents", ".amp", ".claude", ".codex", ".cursor", ".gemini", ".mcp.json", ".opencode"],
  ...["opencode.json", "opencode.jsonc", ".windsurf", ".zed", ".vscode", ".idea"],
  ...[".devcontainer", ".devcontainer.json", ".husky", ACTIVE_FILE, "ralph/allowed-commands.txt"],
];

/** What an agent may read and write. A denial overrides any permission. */
export interface FilePolicy {
  denyRead: string[];
  allowWrite: string[];
  denyWrite: string[];
}

/** The part that is the same for all calls of a run. */
interface RunPolicy extends FilePolicy {
  mounts: string[];
}

/** `own` is a folder of this sandbox that no agent can write to, `temp` the one for temporary files. */
export async function runPolicy(
  spec: SandboxSpec,
  scope: SandboxScope,
  { own, temp }: { own: string; temp: string },
): Promise<RunPolicy> {
  const [{ allowed, hidden, kept, secrets }, { held }] = await Promise.all([
    checkedPaths(spec, scope),
    heldIn(scope),
  ]);
  // A killed ralph may have left stand-ins behind; no real repository or settings are empty.
  removeStandIns(held);
  const logs = hiddenFolder(scope.ralphHome);
  makePrivateFolder(logs);
  const denyRead = [...secrets, pipesFolder(scope.ralphHome), logs, ...hidden];
  const state = stateFolders(scope);
  const policy = { denyRead, allowWrite: [scope.workspace, temp, ...allowed], denyWrite: [own, ...kept] };
  if (process.platform === "linux")
    return { ...policy, mounts: ownState(state, join(own, "state"), { hidden: denyRead, allowed }) };
  // Seatbelt cannot put one path in place of another.
  const obeyed = state.flatMap(({ path, obeys = [] }) => obeys.map((name) => join(path, name)));
  return {
    denyRead,
    allowWrite: [...policy.allowWrite, ...state.map(({ path }) => path)],
    denyWrite: [...policy.denyWrite, ...obeyed],
    mounts: [],
  };
}

/** The existing files can change between two calls. */
export async function callPolicy(
  policy: RunPolicy,
  scope: SandboxScope,
  { writes = [] }: SandboxCall,
): Promise<FilePolicy & HeldPaths> {
  const { gitWrites, held } = await heldIn(scope);
  const holding = hold(held, gitWrites);
  const records = writes.length === 0 ? [scope.ralphHome] : [];
  // An agent must not move a held file away with its folder.
  const folders = held.filter(({ standIn, isWatched }) => standIn !== undefined || isWatched);
  const above = folders.map(({ path }) => dirname(path));
  const allowWrite = [...policy.allowWrite, ...gitWrites, ...above, ...writes];
  return {
    ...holding,
    denyRead: policy.denyRead,
    allowWrite: [...new Set(allowWrite)],
    denyWrite: [...new Set([...policy.denyWrite, ...holding.denyWrite, ...records])],
  };
}

/** Paths that an agent must not create: git outside would obey a new repository, too. */
async function heldIn({ workspace, agents }: SandboxScope) {
  prepareRuntimeFolder(workspace);
  const { writes: gitWrites, held: inGit } = await gitFiles(workspace);
  const read = agents.flatMap(({ needs }) => needs?.reads ?? []);
  const held = OBEYED.map((name): HeldPath => {
    const path = join(workspace, name);
    if (isBehindLink(path, workspace)) return { path };
    return read.includes(name) && !isLink(path) ? { path, isWatched: true } : { path, standIn: null };
  });
  const repository: HeldPath = { path: join(workspace, ".git"), standIn: null, isOpen: true };
  const runtime: HeldPath = { path: join(workspace, RUNTIME_FOLDER) };
  return { gitWrites, held: [...held, repository, runtime, ...inGit] };
}

/** The paths in the settings. Refuses settings that contradict each other or ralph before the run starts. */
export async function checkedPaths(spec: SandboxSpec, scope: SandboxScope) {
  const { workspace, home, ralphHome } = scope;
  const full = (paths: string[]): string[] =>
    paths.map((path) => resolve(workspace, path.replace(/^~(?=\/|$)/, home)));
  const [allowed, hidden, kept] = [full(spec.allowWrite), full(spec.denyRead), full(spec.denyWrite)];
  const secrets = await secretPaths(scope);
  const fixed = [...OBEYED, RUNTIME_FOLDER, ".git/hooks", ".git/config"];
  const own = [ralphHome, ...fixed.map((name) => join(workspace, name))];
  const within = (folders: string[]): string | undefined =>
    allowed.find((path) => folders.some((denied) => leadsInto(path, denied)));
  const holding = (path: string, folders: string[]): string | undefined =>
    folders.find((folder) => leadsInto(path, folder));
  const above = kept.filter((path) => path !== workspace);
  const rules: [key: string, path: string | undefined, why: string][] = [
    ["denyRead", holding(workspace, hidden), "holds the project itself"],
    ["denyRead", holding(join(workspace, ".git"), hidden), "holds the repository itself"],
    ["denyWrite", holding(workspace, above), "holds the project itself"],
    ["denyWrite", kept.find((path) => path.includes("*")), "is a pattern, and only paths are taken"],
    ["allowWrite", within([...hidden, ...secrets]), "is among what must not be read"],
    ["allowWrite", within(kept), "is among what denyWrite names"],
    ["allowWrite", within(own), "is among what no agent may write"],
  ];
  for (const [key, path, why] of rules) if (path !== undefined) throw wrong(key, `${path} ${why}`);
  // An agent that sees an empty folder instead of a tracked one would commit the removal of its files.
  const inside = hidden.filter((path) => isIn(path, workspace));
  const { stdout } =
    inside.length === 0 ? { stdout: "" } : await git(workspace, ["ls-files", "-z", "--", ...inside]);
  if (stdout !== "")
    throw wrong(
      "denyRead",
      `${inside.join(", ")} has files of the repository, and they would seem to be gone`,
    );
  for (const path of allowed) if (!path.includes("*") && !existsSync(path)) makeAllowed(path);
  return { allowed, hidden, kept, secrets };
}

/** By its name, or by where its links lead. */
function leadsInto(path: string, folder: string): boolean {
  return isIn(path, folder) || isIn(realPlace(path), realPlace(folder));
}

/** Only existing paths can be made writable. */
function makeAllowed(path: string): void {
  try {
    makeFolders(path);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new RalphError(`sandbox.filesystem.allowWrite: ${path} is missing and cannot be made: ${why}`, {
      code: "sandbox_failed",
    });
  }
}

function wrong(key: string, why: string): RalphError {
  return new RalphError(`sandbox.filesystem.${key}: ${why}`, {
    code: "sandbox_failed",
    hint: "docs/guides/sandbox.md says what can be asked for",
  });
}

/** Folders that agents must write to. Only existing ones can be made writable. */
function stateFolders({ agents, home, env, workspace }: SandboxScope): StateFolder[] {
  const all = new Set(agents.flatMap(({ needs }) => needs?.state ?? []));
  const found = [...all].flatMap((state) => {
    const { variable, folder } = state;
    const base = variable === undefined ? "" : env[variable] || join(home, folder);
    const path = resolve(workspace, base, state.path);
    if (variable === undefined && !lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return [];
    makeFolders(path);
    return [{ ...state, path: realPlace(path) }];
  });
  return found.filter(({ path }) => !isIn(workspace, path));
}

function isIn(path: string, folder: string): boolean {
  return `${path}/`.startsWith(folder === "/" ? folder : `${folder}/`);
}

/**
 * Outside programs obey the content of such a folder, so each run has its own copy in `copies`. Folders with
 * programs and settings appear unchanged. The agent writes to the user's own files only where it renews its
 * login, or where the user allows it. Returns flags of bubblewrap.
 */
function ownState(
  folders: StateFolder[],
  copies: string,
  { hidden, allowed }: { hidden: string[]; allowed: string[] },
): string[] {
  const isHidden = (path: string): boolean => hidden.some((one) => isIn(path, one));
  const taken = folders.filter(({ path }) => !isHidden(path) && !allowed.some((one) => isIn(path, one)));
  return taken.flatMap(({ path, beginsEmpty, obeys = [], renews = [] }, index) => {
    const inside = (names: string[]): string[] => names.map((name) => join(path, name));
    const isShown = (at: string): boolean =>
      lstatSync(at, { throwIfNoEntry: false })?.isDirectory() === true &&
      !hidden.some((one) => isIn(one, at));
    const shown = inside(obeys).filter(isShown);
    const isFile = (at: string): boolean => statSync(at, { throwIfNoEntry: false })?.isFile() === true;
    const shared = [...inside(renews).filter(isFile), ...allowed.filter((one) => isIn(one, path))];
    const copy = join(copies, String(index));
    mkdirSync(copy, { recursive: true, mode: 0o700 });
    const left = [...shown, ...shared, ...hidden];
    const isCopied = (at: string): boolean => at === path || (!left.includes(at) && isSmall(at));
    if (!beginsEmpty) cpSync(path, copy, { recursive: true, verbatimSymlinks: true, filter: isCopied });
    return [
      ...["--bind", copy, path],
      ...shown.flatMap((at) => ["--ro-bind", at, at]),
      ...shared.filter((at) => !isHidden(at)).flatMap((at) => ["--bind", realPlace(at), at]),
    ];
  });
}

/** For one folder; a folder with more files is a history or a cache, and starts empty. */
const MOST_FILES = 300;
const MOST_BYTES = 8 * 1024 * 1024;
/** They can be in the middle of a change. */
const DATABASE = /\.(sqlite\d*|db)(-\w+)?$/;

/** Files and links that this user can read, and small folders. */
function isSmall(top: string): boolean {
  let [files, bytes] = [0, 0];
  const fits = (path: string): boolean => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    files += 1;
    bytes += stat?.size ?? 0;
    if (files > MOST_FILES || bytes > MOST_BYTES) return false;
    return !stat?.isDirectory() || readdirSync(path).every((name) => fits(join(path, name)));
  };
  try {
    const stat = lstatSync(top);
    if (stat.isSymbolicLink()) return true;
    accessSync(top, constants.R_OK);
    return (stat.isDirectory() || (stat.isFile() && !DATABASE.test(top))) && fits(top);
  } catch {
    // An agent outside has just removed it, or this user may not read it.
    return false;
  }
}

/** Keys, tokens and logins in a home folder that no agent must read. */
const IN_HOME = `
  .ssh .gnupg .aws .azure .kube .password-store .local/share/keyrings Library/Keychains Library/Cookies
  .config/gcloud .config/gh .config/hub .config/glab-cli .config/op .config/doctl .config/rclone
  .config/rclone.conf .rclone.conf .config/git/credentials .git-credentials .netrc
  .npmrc .yarnrc.yml .pypirc .cargo/credentials .cargo/credentials.toml .gem/credentials .bundle/config
  .m2/settings.xml .gradle/gradle.properties .docker/config.json .dclaude_state
  .terraform.d/credentials.tfrc.json .terraformrc .vault-token .databrickscfg .pgpass .my.cnf
  .mozilla .config/google-chrome .config/chromium .bash_history .zsh_history
`;

const OF_THE_SYSTEM = ["/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssh"];

/** What agents of a run must not see: keys, logins of other agents, and all secrets in other homes. */
export async function secretPaths(
  { home, env, agents }: Pick<SandboxScope, "home" | "env" | "agents">,
  others = otherHomes(home),
): Promise<string[]> {
  const known = await Promise.all(AGENT_NAMES.map(agentFor));
  const logins = known.flatMap(({ name, setup }) => (setup ? [{ name, ...setup.loginFile }] : []));
  const fileOf = ({ variable, folder, path }: (typeof logins)[number]): string =>
    join(env[variable] || join(home, folder), path);
  const used = logins.filter(({ name }) => agents.some((agent) => agent.name === name)).map(fileOf);
  const keys = IN_HOME.trim().split(/\s+/);
  const elsewhere = [...keys, ...logins.map(({ folder, path }) => join(folder, path))];
  return [
    ...keys.map((path) => join(home, path)),
    ...OF_THE_SYSTEM,
    ...logins.map(fileOf),
    // Other homes may be many, so this hides only files that exist.
    ...others.flatMap((other) => elsewhere.map((path) => join(other, path))).filter(existsSync),
  ].filter((path) => !used.includes(path));
}

/** Homes beside `home` that this user can read. */
function otherHomes(home: string): string[] {
  const isRoot = process.getuid?.() === 0 && existsSync("/home");
  const all = [
    userInfo().homedir,
    ...(isRoot ? readdirSync("/home").map((name) => join("/home", name)) : []),
  ];
  return all.filter((path) => path !== home);
}
