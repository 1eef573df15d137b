import { which } from "../process/which.js";
import type { DoctorContext } from "./context.js";
import type { Finding } from "./finding.js";
import { asAdmin, installCommand } from "./install.js";
import { type Answer, ask, askVersion } from "./probe.js";

/** What could shut an agent in. One that works is enough. */
export async function examineSandboxes(context: DoctorContext): Promise<Finding[]> {
  const own = context.platform === "darwin" ? seatbelt(context) : bubblewrap(context);
  const [first, docker] = await Promise.all([own, dockerFinding(context)]);
  const works = [first, docker].some(({ status, installed }) => status === "ok" && installed);
  if (works) return [first, docker].map(notNeeded);
  if (first.installed) return [first, docker];
  const message = "not installed, and no other sandbox works: an agent can reach all that you can";
  const fix = installCommand(context, "bubblewrap");
  return [{ ...first, status: "warning", message, fix }, docker];
}

/** Another one works: what is wrong with this one need not be mended. */
function notNeeded({ fix, ...finding }: Finding): Finding {
  if (fix === undefined) return finding;
  return { ...finding, status: "ok", installed: false, message: `not needed, and ${finding.message}` };
}

async function bubblewrap(context: DoctorContext): Promise<Finding> {
  const path = locate(context, "bwrap");
  if (path === undefined) return absent("bubblewrap");
  const [answer, trial] = await Promise.all([
    askVersion(context, path),
    ask(context, path, ["--ro-bind", "/", "/", "--unshare-all", "--die-with-parent", "true"]),
  ]);
  const version = answer.status === "answered" ? answer.version : undefined;
  return tried("bubblewrap", path, version, trial, allowNamespaces(context));
}

function allowNamespaces(context: DoctorContext): string {
  const ubuntu = asAdmin(context, "sysctl kernel.apparmor_restrict_unprivileged_userns=0");
  return `allow user namespaces (Ubuntu: ${ubuntu}; a container: start it with more privileges)`;
}

async function seatbelt(context: DoctorContext): Promise<Finding> {
  const path = locate(context, "sandbox-exec");
  if (path === undefined) return absent("sandbox-exec");
  const trial = await ask(context, path, ["-p", "(version 1) (allow default)", "true"]);
  return tried("sandbox-exec", path, undefined, trial, "run ralph outside of another sandbox");
}

async function dockerFinding(context: DoctorContext): Promise<Finding> {
  const path = locate(context, "docker");
  if (path === undefined) return absent("docker");
  const [client, engine] = await Promise.all([
    askVersion(context, path),
    ask(context, path, ["version", "--format", "{{.Server.Version}}"]),
  ]);
  const version = client.status === "answered" ? client.version : undefined;
  return tried("docker", path, version, engine, startDocker(context, engine));
}

function startDocker(context: DoctorContext, engine: Answer): string {
  if (engine.status !== "answered" && engine.why.includes("permission denied"))
    return "sudo usermod -aG docker $USER, then log in again";
  return context.platform === "darwin" ? "open -a Docker" : asAdmin(context, "systemctl start docker");
}

function locate({ workspace, env }: DoctorContext, name: string): string | undefined {
  const found = which(name, workspace, env["PATH"]);
  return found.status === "found" ? found.path : undefined;
}

function absent(name: string): Finding {
  return { name, status: "ok", message: "not installed", installed: false };
}

function tried(name: string, path: string, version: string | undefined, trial: Answer, fix: string): Finding {
  const base = { name, installed: true, path, ...(version !== undefined && { version }) };
  const shown = version === undefined ? path : `${version} at ${path}`;
  if (trial.status === "answered") return { ...base, status: "ok", message: `${shown}, works` };
  return { ...base, status: "warning", message: `${shown} does not work here: ${trial.why}`, fix };
}
