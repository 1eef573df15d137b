import { describeSystemError, RalphError } from "../../errors.js";
import { redactDeep } from "../../records/redact.js";
import { sandboxOf } from "../../sandbox/choose.js";
import type { Availability } from "../../sandbox/sandbox.js";
import { checkScm } from "../../workspace/scm.js";
import { examineAgents } from "./agents.js";
import {
  asAdmin,
  asRefusal,
  type DoctorContext,
  type DoctorFinding,
  installCommand,
  refused,
  TIMEOUT_MS,
} from "./context.js";
import { examineGit, examineSystem } from "./system.js";

/** In the order they are shown; agents are the slowest to answer. */
const EXAMINATIONS = {
  settings: examineSettings,
  git: examineGit,
  system: examineSystem,
  sandboxes: examineSandboxes,
  agents: examineAgents,
  github: async ({ forge, workspace, stop }) => (await forge?.(workspace, stop)) ?? [],
} satisfies Record<string, (context: DoctorContext) => Promise<DoctorFinding[]>>;

/** Starts everything at once. Never fails: what cannot be examined is a finding. */
export function examine(context: DoctorContext): { group: string; findings: Promise<DoctorFinding[]> }[] {
  return Object.entries(EXAMINATIONS).map(([group, run]) => ({
    group,
    findings: run(context)
      .catch((error: unknown): DoctorFinding[] => {
        const message = `cannot examine it: ${describeSystemError(error)}`;
        return [{ name: group, status: "problem", message, fix: "this is a bug in ralph: please report it" }];
      })
      .then((findings) => redactDeep(findings, context.redact)),
  }));
}

export async function examineSettings({
  settings: loaded,
  workspace,
  env,
}: DoctorContext): Promise<DoctorFinding[]> {
  if (loaded instanceof RalphError) return [invalid("files", loaded)];
  const { scm } = loaded.settings;
  const files = loaded.files.map(({ name }) => name);
  const message = files.length === 0 ? "none: ralph uses the defaults" : `valid: ${files.join(", ")}`;
  const found: DoctorFinding = { name: "files", status: "ok", message, files };
  if (scm === undefined) return [found];
  try {
    checkScm(workspace, scm, env);
    return [found, { name: "scm", status: "ok", message: `${scm.command}: ${scm.tasks.join(", ")}` }];
  } catch (error) {
    return [found, invalid("scm", asRefusal(error))];
  }
}

function invalid(name: string, error: RalphError): DoctorFinding {
  return { fix: "correct the file and run ralph doctor again", ...refused(name, "problem", error) };
}

const KINDS = ["srt", "docker"] as const;

/** What could shut an agent in, as `--sandbox` would find it. One that works is enough. */
export async function examineSandboxes(context: DoctorContext): Promise<DoctorFinding[]> {
  const { env, workspace, platform, stop, settings } = context;
  const asked = { env, workspace, platform, timeoutMs: TIMEOUT_MS, stop };
  const found = await Promise.all(KINDS.map(async (kind) => (await sandboxOf(kind)).find(asked)));
  const works = found.some(({ status }) => status === "works");
  const wanted = "settings" in settings ? settings.settings.sandbox?.kind : undefined;
  return KINDS.map((name, index): DoctorFinding => {
    const one = found[index] as Availability;
    if (one.status === "works")
      return { name, status: "ok", installed: true, message: `works (${one.about})` };
    const installed = one.status === "broken";
    const message = installed ? `does not work here: ${one.why}` : `not installed: ${one.why}`;
    const fix = FIXES[name](context, one);
    if (name === wanted)
      return { name, status: "problem", installed, message: `${message}; the settings ask for it`, fix };
    // Another one works: what is wrong with this one need not be mended.
    if (works) return { name, status: "ok", installed: false, message: `not needed, and ${message}` };
    const alone = "no other sandbox works: agents can reach everything that you can";
    if (index === 0) return { name, status: "warning", installed, message: `${message}; ${alone}`, fix };
    return installed
      ? { name, status: "warning", installed, message, fix }
      : { name, status: "ok", installed, message };
  });
}

const FIXES: Record<
  (typeof KINDS)[number],
  (context: DoctorContext, found: Exclude<Availability, { status: "works" }>) => string
> = {
  srt(context, { status, packages, fix }) {
    if (packages !== undefined) return installCommand(context, packages.join(" "));
    if (status === "missing" || context.platform !== "linux") return fix;
    const ubuntu = asAdmin(context, "sysctl kernel.apparmor_restrict_unprivileged_userns=0");
    return `allow user namespaces (Ubuntu: ${ubuntu}; a container: start it with more privileges)`;
  },
  docker(context, { why, fix }) {
    if (why.includes("permission denied")) return "sudo usermod -aG docker $USER, then log in again";
    if (!/daemon|not running/i.test(why)) return fix;
    return context.platform === "darwin" ? "open -a Docker" : asAdmin(context, "systemctl start docker");
  },
};
