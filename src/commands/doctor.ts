import { agentEnvironment, claudeAsRoot, resolveAgent } from "../run/agent-spec.js";
import { handleSignals } from "../run/signals.js";
import { currentContext, type DoctorContext, type DoctorFinding } from "../setup/doctor/context.js";
import { examine } from "../setup/doctor/examine.js";
import { exitCodeOf } from "../stop-reasons.js";
import { createDoctorLines } from "../views/findings.js";
import { formatterFor, type PrintFlags, printAs, say } from "./output.js";

const MAX_COLUMNS = 120;

/** `ralph doctor`: whether ralph can work here, and what to do where it can't. */
export async function doctor(flags: PrintFlags): Promise<number> {
  const { signals, release } = handleSignals(() => {});
  const { stop } = signals;
  const lines = createDoctorLines(formatterFor(flags), Math.min(process.stdout.columns ?? 80, MAX_COLUMNS));
  const findings: (DoctorFinding & { group: string })[] = [];
  try {
    const examinations = examine(await currentContext(stop, agentChoice()));
    // Each group is shown as soon as it is known and those before it are shown.
    for (const examination of examinations) {
      const { group } = examination;
      const found = await examination.findings;
      // Those that are under way clear up behind themselves.
      if (stop.aborted) await Promise.all(examinations.map((one) => one.findings));
      if (stop.aborted) return exitCodeOf("interrupted");
      if (!flags.json) say(lines.group(group, found).join("\n"));
      findings.push(...found.map((one) => ({ group, ...one })));
    }
    const ok = findings.every(({ status }) => status !== "problem");
    return await printAs(flags, { v: 1, ok, findings }, () => [lines.closing(findings)], ok ? 0 : 1);
  } finally {
    release();
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
