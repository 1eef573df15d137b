import { existsSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import type { Agent } from "../../agents/agent.js";
import { AGENT_NAMES, type AgentName, agentFor } from "../../agents/index.js";
import { RalphError } from "../../errors.js";
import { which } from "../../process/which.js";
import type { Settings } from "../../settings/schema.js";
import {
  type Auth,
  askVersion,
  asRefusal,
  type DoctorContext,
  type DoctorFinding,
  type FindingStatus,
  programPath,
  refused,
  type Version,
} from "./context.js";

/** The agent that `ralph run` would start. */
interface Choice {
  /** undefined: none is chosen. */
  name?: Agent["name"];
  /** As the settings name it: perhaps by its path. */
  program?: string;
  env: Record<string, string>;
  findings: DoctorFinding[];
}

/** Every known agent, then the one that `ralph run` would start. */
export async function examineAgents(context: DoctorContext): Promise<DoctorFinding[]> {
  const chosen = await chooseAgent(context);
  const known = AGENT_NAMES.map((name) => examineAgent(name, chosen, context));
  return [...(await Promise.all(known)), ...chosen.findings];
}

async function examineAgent(name: AgentName, chosen: Choice, context: DoctorContext): Promise<DoctorFinding> {
  const isChosen = chosen.name === name;
  const program = isChosen ? (chosen.program ?? name) : name;
  const found = which(program, context.workspace, context.env["PATH"]);
  if (found.status === "not_found") return { name, status: "ok", message: "not installed", installed: false };
  const { path } = found;
  const base = { name, installed: true, path };
  if (found.status === "not_executable")
    return { ...base, status: "warning", message: `${path} is not executable`, fix: `chmod +x ${path}` };
  const agent = await agentFor(name);
  const env = isChosen ? { ...context.env, ...chosen.env } : context.env;
  const auth = authOf(agent, { ...context, env });
  // A program in the project may be anybody's: it is not started.
  const inside = relative(context.workspace, path);
  const isOutside = inside.startsWith("..") || isAbsolute(inside);
  const version: Version = isOutside
    ? await askVersion(context, path)
    : { status: "unclear", why: "it lies in the project, so ralph did not start it" };
  const isAnswered = version.status === "answered";
  const shown = isAnswered ? `${version.version} at ${path}` : `${path} --version: ${version.why}`;
  return {
    ...base,
    ...judge(agent, version, auth, isChosen),
    message: `${shown}, ${describeAuth(auth, context)}`,
    ...(isAnswered && { version: version.version }),
    auth,
  };
}

/** An agent that does not start is a problem if it is the one that a run would ask. */
function judge(
  { setup, credentials }: Agent,
  version: Version,
  auth: Auth,
  matters: boolean,
): { status: FindingStatus; fix?: string } {
  const isBroken = version.status === "failed";
  if (version.status !== "answered")
    return {
      status: isBroken && matters ? "problem" : "warning",
      fix: isBroken && setup ? `reinstall it: ${setup.install}` : "run it with --version by hand",
    };
  const isSignedIn = auth.variables.length > 0 || auth.loginFile !== undefined || auth.keychain === true;
  if (isSignedIn || setup === undefined) return { status: "ok" };
  return { status: "warning", fix: `log in: ${setup.signIn} (or set ${credentials[0]})` };
}

/** How an agent would sign in, as far as it shows without reading a secret. */
function authOf({ credentials, setup }: Agent, { env, home, platform }: DoctorContext): Auth {
  const variables = [...credentials, ...(setup?.otherVariables ?? [])].filter((name) => env[name]);
  if (setup === undefined) return { variables };
  const { variable, folder, path } = setup.loginFile;
  const file = join(env[variable] || join(home, folder), path);
  if (existsSync(file)) return { variables, loginFile: file };
  return { variables, ...(setup.usesKeychain && platform === "darwin" && { keychain: true }) };
}

function describeAuth({ variables, loginFile, keychain }: Auth, { home }: DoctorContext): string {
  const are = variables.length === 1 ? "is" : "are";
  const signs = [
    ...(variables.length === 0 ? [] : [`${variables.join(", ")} ${are} set`]),
    ...(loginFile === undefined ? [] : [`a login in ${loginFile.replace(`${home}/`, "~/")}`]),
  ];
  if (signs.length > 0) return signs.join(", ");
  return keychain ? "ralph cannot see a login in the keychain" : "no sign of a login";
}

async function chooseAgent(context: DoctorContext): Promise<Choice> {
  if (context.settings instanceof RalphError) return { env: {}, findings: asRoot(context) };
  const { settings } = context.settings;
  const profiles = Object.keys(settings.agents ?? {}).map(async (profile): Promise<DoctorFinding> => {
    const name = `agents.${profile}`;
    return await context.choose(profile, settings, context).then(
      ({ program }) => ({ name, status: "ok", message: program }),
      (error) => refused(name, "warning", asRefusal(error)),
    );
  });
  const chosen = await defaultAgent(settings, context);
  return { ...chosen, findings: [...chosen.findings, ...(await Promise.all(profiles))] };
}

async function defaultAgent(settings: Settings, context: DoctorContext): Promise<Choice> {
  try {
    const { program, env } = await context.choose(undefined, settings, context);
    const why = settings.agent?.command === undefined ? "the only known agent on PATH" : "by the settings";
    const { name } = await agentFor(program);
    const message = `${program}, ${why}`;
    return { name, program, env, findings: [{ name: "default", status: "ok", message }] };
  } catch (error) {
    const refusal = asRefusal(error);
    const finding = refused("default", "problem", refusal);
    const warning: DoctorFinding = { ...finding, status: "warning" };
    if (refusal.code === "claude_as_root") return { name: "claude", env: {}, findings: [warning] };
    if (refusal.code !== "agent_unknown") return { env: {}, findings: [finding] };
    if (AGENT_NAMES.some((name) => programPath(context, name)))
      return { env: {}, findings: [warning, ...asRoot(context)] };
    return { env: {}, findings: [{ ...finding, fix: INSTALL }] };
  }
}

const INSTALL =
  "install one, for example: npm install -g @anthropic-ai/claude-code; or use any command with --agent CMD";

/** A run with Claude Code would be refused. */
function asRoot(context: DoctorContext): DoctorFinding[] {
  const isFree = context.uid !== 0 || context.env["IS_SANDBOX"] === "1";
  return isFree || !programPath(context, "claude") ? [] : [refused("as root", "warning", context.asRoot)];
}
