import type { Agent } from "../../agents/agent.js";
import { AGENT_NAMES, agentFor } from "../../agents/index.js";
import { RalphError } from "../../errors.js";
import { which } from "../../process/which.js";
import { agentEnvironment, claudeAsRoot, resolveAgent } from "../../run/agent-spec.js";
import type { Settings } from "../../settings/schema.js";
import type { DoctorContext } from "./context.js";
import type { Finding } from "./finding.js";

/** The agent that `ralph run` would start. */
export interface Chosen {
  /** undefined when nobody has said which. */
  name: Agent["name"] | undefined;
  /** As the settings name it: perhaps by its path. */
  program?: string;
  /** Variables that the settings give to it. */
  env: Record<string, string>;
  findings: Finding[];
}

export async function chooseAgent(context: DoctorContext): Promise<Chosen> {
  if (context.settings instanceof RalphError) return nobody(asRoot(context));
  const { settings } = context.settings;
  const profiles = await Promise.all(
    Object.keys(settings.agents ?? {}).map((name) => profileFinding(name, settings, context)),
  );
  const chosen = await defaultAgent(settings, context);
  return { ...chosen, findings: [...chosen.findings, ...profiles] };
}

async function defaultAgent(settings: Settings, context: DoctorContext): Promise<Chosen> {
  const { workspace, env } = context;
  try {
    const spec = await resolveAgent({ agentFlags: [] }, settings, workspace, env);
    const why = settings.agent?.command === undefined ? "the only known agent on PATH" : "by the settings";
    const [program = ""] = spec.words;
    return {
      name: (await agentFor(program)).name,
      program,
      env: agentEnvironment(spec, settings),
      findings: [{ name: "default", status: "ok", message: `${program}, ${why}` }],
    };
  } catch (error) {
    return refusedDefault(asRefusal(error), context);
  }
}

function refusedDefault(refusal: RalphError, context: DoctorContext): Chosen {
  const finding = refused("default", "problem", refusal);
  if (refusal.code === "claude_as_root")
    return { ...nobody([{ ...finding, status: "warning" }]), name: "claude" };
  if (refusal.code !== "agent_unknown") return nobody([finding]);
  if (AGENT_NAMES.some((name) => isInstalled(name, context)))
    return nobody([{ ...finding, status: "warning" }, ...asRoot(context)]);
  return nobody([{ ...finding, fix: INSTALL }]);
}

const INSTALL =
  "install one, for example: npm install -g @anthropic-ai/claude-code; or use any command with --agent CMD";

function nobody(findings: Finding[]): Chosen {
  return { name: undefined, env: {}, findings };
}

async function profileFinding(profile: string, settings: Settings, context: DoctorContext): Promise<Finding> {
  const name = `agents.${profile}`;
  const choice = { agent: profile, agentFlags: [] };
  try {
    const { words } = await resolveAgent(choice, settings, context.workspace, context.env);
    return { name, status: "ok", message: words[0] ?? "" };
  } catch (error) {
    return refused(name, "warning", asRefusal(error));
  }
}

/** Whoever chooses Claude Code will be refused. */
function asRoot(context: DoctorContext): Finding[] {
  const isFree = context.uid !== 0 || context.env["IS_SANDBOX"] === "1";
  return isFree || !isInstalled("claude", context) ? [] : [refused("as root", "warning", claudeAsRoot())];
}

function isInstalled(name: string, { workspace, env }: DoctorContext): boolean {
  return which(name, workspace, env["PATH"]).status === "found";
}

function refused(name: string, status: Finding["status"], { message, hint }: RalphError): Finding {
  return { name, status, message, ...(hint !== undefined && { fix: hint }) };
}

function asRefusal(error: unknown): RalphError {
  if (error instanceof RalphError) return error;
  throw error;
}
