import { isAbsolute, relative } from "node:path";
import type { Agent, Installation } from "../../agents/agent.js";
import { AGENT_NAMES, type AgentName, agentFor } from "../../agents/index.js";
import { which } from "../../process/which.js";
import { type Chosen, chooseAgent } from "./chosen-agent.js";
import type { DoctorContext } from "./context.js";
import type { Auth, Finding, Status } from "./finding.js";
import { authOf, describeAuth, isSignedIn } from "./login.js";
import { askVersion, type Version } from "./probe.js";

/** Every known agent, then the one that `ralph run` would start. */
export async function examineAgents(context: DoctorContext): Promise<Finding[]> {
  const chosen = await chooseAgent(context);
  const known = AGENT_NAMES.map((name) => examineAgent(name, chosen, context));
  return [...(await Promise.all(known)), ...chosen.findings];
}

async function examineAgent(name: AgentName, chosen: Chosen, context: DoctorContext): Promise<Finding> {
  const isChosen = chosen.name === name;
  const program = isChosen ? (chosen.program ?? name) : name;
  const found = which(program, context.workspace, context.env["PATH"]);
  if (found.status === "not_found") return { name, status: "ok", message: "not installed", installed: false };
  const base = { name, installed: true, path: found.path };
  if (found.status === "not_executable") {
    const message = `${found.path} is not executable`;
    return { ...base, status: "warning", message, fix: `chmod +x ${found.path}` };
  }
  const agent = await agentFor(name);
  const env = isChosen ? { ...context.env, ...chosen.env } : context.env;
  const auth = authOf(agent, { ...context, env });
  const version = await versionOf(found.path, context);
  return {
    ...base,
    ...judge(agent, version, auth, isChosen),
    message: [shownVersion(version, found.path), describeAuth(auth, context)].join(", "),
    ...(version.status === "answered" && { version: version.version }),
    auth,
  };
}

/** What lies in the project may be anybody's: it is looked at and not started. */
async function versionOf(path: string, context: DoctorContext): Promise<Version> {
  const inside = relative(context.workspace, path);
  const isInside = !inside.startsWith("..") && !isAbsolute(inside);
  return isInside
    ? { status: "unclear", why: "it lies in the project and was not started" }
    : askVersion(context, path);
}

/** What an agent lacks matters if it is the one that is going to be asked. */
function judge(
  { setup, credentials }: Agent,
  version: Version,
  auth: Auth,
  matters: boolean,
): { status: Status; fix?: string } {
  if (version.status !== "answered") {
    const failed = version.status === "failed";
    return {
      status: failed && matters ? "problem" : "warning",
      fix: failed && setup ? anew(setup) : BY_HAND,
    };
  }
  if (isSignedIn(auth) || !matters) return { status: "ok" };
  return {
    status: "warning",
    ...(setup && { fix: `sign in with: ${setup.signIn} (or set ${credentials[0]})` }),
  };
}

const BY_HAND = "run it with --version by hand";

function anew({ install }: Installation): string {
  return `install it anew: ${install}`;
}

function shownVersion(version: Version, path: string): string {
  return version.status === "answered"
    ? `${version.version} at ${path}`
    : `${path} --version: ${version.why}`;
}
