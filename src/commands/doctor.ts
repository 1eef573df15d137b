import { agentEnvironment, claudeAsRoot, resolveAgent } from "../run/agent-spec.js";
import { handleSignals } from "../run/signals.js";
import {
  asRefusal,
  currentContext,
  type DoctorContext,
  type DoctorFinding,
  refused,
} from "../setup/doctor/context.js";
import { examine } from "../setup/doctor/examine.js";
import { exitCodeOf } from "../stop-reasons.js";
import { createDoctorLines } from "../views/findings.js";
import { git, repositoryRoot } from "../workspace/git.js";
import { formatterFor, type PrintFlags, printAs, say } from "./output.js";

const MAX_COLUMNS = 120;

/** `ralph doctor`: whether ralph can work here, and how to fix what is missing. */
export async function doctor(flags: PrintFlags): Promise<number> {
  const { signals, release } = handleSignals(() => {});
  const { stop } = signals;
  const lines = createDoctorLines(formatterFor(flags), Math.min(process.stdout.columns ?? 80, MAX_COLUMNS));
  const findings: (DoctorFinding & { group: string })[] = [];
  try {
    const examinations = examine(await currentContext(stop, { ...agentChoice(), forge: examineForge }));
    // Shows each group as soon as it and those before it are ready.
    for (const examination of examinations) {
      const { group } = examination;
      const found = await examination.findings;
      // Unfinished ones clean up after themselves.
      if (stop.aborted) await Promise.all(examinations.map((one) => one.findings));
      if (stop.aborted) return exitCodeOf("interrupted");
      if (!flags.json && found.length > 0) say(lines.group(group, found).join("\n"));
      findings.push(...found.map((one) => ({ group, ...one })));
    }
    const ok = findings.every(({ status }) => status !== "problem");
    return await printAs(flags, { v: 1, ok, findings }, () => [lines.closing(findings)], ok ? 0 : 1);
  } finally {
    release();
  }
}

/** gh, its login, and whether it may push. Not knowing is no problem: runs without GitHub do not need it. */
async function examineForge(checkout: string, stop: AbortSignal): Promise<DoctorFinding[]> {
  if (repositoryRoot(checkout) === undefined) return [];
  const { stdout: remotes } = await git(checkout, ["remote"]);
  if (remotes.trim() === "") return [];
  const { ghVersion } = await import("../github/gh.js");
  const { fullName } = await import("../github/forge.js");
  const { forgeOf, requirePush } = await import("../github/remote.js");
  const findings: DoctorFinding[] = [];
  let name = "gh";
  try {
    findings.push({ name, status: "ok", message: await ghVersion() });
    name = "repository";
    const forge = await forgeOf(checkout, { tell: () => {}, patienceMs: 0, stop });
    await requirePush(forge);
    const message = `${forge.repo.host}/${fullName(forge.repo)}, and the login of gh may push to it`;
    return [...findings, { name, status: "ok", message }];
  } catch (error) {
    const refusal = asRefusal(error);
    // Another forge is no problem.
    const isOther = refusal.code === "remote_other";
    const finding = refused(name, isOther ? "ok" : "warning", refusal);
    return [...findings, isOther ? { ...finding, installed: false } : finding];
  }
}

export function agentChoice(): Pick<DoctorContext, "choose" | "asRoot"> {
  return {
    async choose(agent, settings, { workspace, env }) {
      const spec = await resolveAgent({ agent, agentFlags: [] }, settings, workspace, env);
      return { program: spec.words[0] ?? "", env: agentEnvironment(spec, settings) };
    },
    asRoot: claudeAsRoot(),
  };
}
