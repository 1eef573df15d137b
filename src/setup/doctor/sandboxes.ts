import { sandboxOf } from "../../sandbox/choose.js";
import type { Availability } from "../../sandbox/sandbox.js";
import { asAdmin, type DoctorContext, type DoctorFinding, installCommand } from "./context.js";

const TIMEOUT_MS = 5000;

/** What could shut an agent in, as `--sandbox` would find it. One that works is enough. */
export async function examineSandboxes(context: DoctorContext): Promise<DoctorFinding[]> {
  const { env, workspace, platform, stop } = context;
  const find = async (kind: "srt" | "docker"): Promise<Availability> =>
    (await sandboxOf(kind)).find({ env, workspace, platform, timeoutMs: TIMEOUT_MS, stop });
  const [srt, docker] = await Promise.all([find("srt"), find("docker")]);
  const findings = [
    finding("srt", srt, srtFix(context, srt)),
    finding("docker", docker, dockerFix(context, docker)),
  ];
  const works = [srt, docker].some(({ status }) => status === "works");
  const wanted = "settings" in context.settings ? context.settings.settings.sandbox?.kind : undefined;
  return findings.map((one, index): DoctorFinding => {
    const { fix, ...rest } = one;
    if (fix === undefined) return one;
    const { name, message } = one;
    if (name === wanted) return { ...one, status: "problem", message: `${message}; the settings ask for it` };
    // Another one works: what is wrong with this one need not be mended.
    if (works) return { ...rest, status: "ok", installed: false, message: `not needed, and ${message}` };
    const alone = "no other sandbox works: an agent can reach all that you can";
    if (index === 0) return { ...one, status: "warning", message: `${message}; ${alone}` };
    return one.status === "ok" ? rest : one;
  });
}

function finding(name: string, found: Availability, fix: string): DoctorFinding {
  if (found.status === "works")
    return { name, status: "ok", installed: true, message: `works (${found.about})` };
  const installed = found.status === "broken";
  const message = installed ? `does not work here: ${found.why}` : `not installed: ${found.why}`;
  return { name, status: installed ? "warning" : "ok", installed, message, fix };
}

function srtFix(context: DoctorContext, found: Availability): string {
  if (found.status === "works") return "";
  if (found.packages !== undefined) return installCommand(context, found.packages.join(" "));
  if (found.status === "missing" || context.platform !== "linux") return found.fix;
  const ubuntu = asAdmin(context, "sysctl kernel.apparmor_restrict_unprivileged_userns=0");
  return `allow user namespaces (Ubuntu: ${ubuntu}; a container: start it with more privileges)`;
}

function dockerFix(context: DoctorContext, found: Availability): string {
  if (found.status === "works") return "";
  if (found.why.includes("permission denied")) return "sudo usermod -aG docker $USER, then log in again";
  if (!/daemon|not running/i.test(found.why)) return found.fix;
  return context.platform === "darwin" ? "open -a Docker" : asAdmin(context, "systemctl start docker");
}
