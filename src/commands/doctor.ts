import { agentEnvironment, claudeAsRoot, resolveAgent } from "../run/agent-spec.js";
import { handleSignals } from "../run/signals.js";
import { currentContext, type DoctorContext, type DoctorFinding } from "../setup/doctor/context.js";
import { examine } from "../setup/doctor/examine.js";
import { exitCodeOf } from "../stop-reasons.js";
import { createDoctorLines } from "../views/findings.js";
import { harmlessJson } from "../views/harmless.js";
import { formatterFor, type OutputFlags, surviveClosedPipe } from "./output.js";

export type DoctorFlags = Pick<OutputFlags, "json" | "color" | "emoji">;

/** `ralph doctor`: whether ralph can work here, and what to do where it can't. */
export async function doctor(flags: DoctorFlags): Promise<number> {
  surviveClosedPipe();
  const handler = handleSignals(() => {});
  try {
    const { stop } = handler.signals;
    const context = await currentContext(stop, agentChoice());
    const findings = await (flags.json ? showJson(context) : showText(context, flags));
    if (stop.aborted) return exitCodeOf("interrupted");
    return isOk(findings) ? 0 : 1;
  } finally {
    handler.release();
  }
}

/** The agents that runs would start. */
export function agentChoice(): Pick<DoctorContext, "choose" | "asRoot"> {
  return {
    async choose(agent, settings, { workspace, env }) {
      const spec = await resolveAgent({ agent, agentFlags: [] }, settings, workspace, env);
      return { program: spec.words[0] ?? "", env: agentEnvironment(spec, settings) };
    },
    asRoot: claudeAsRoot(),
  };
}

async function showJson(context: DoctorContext): Promise<DoctorFinding[]> {
  const groups = await Promise.all(examine(context).map(({ group, findings }) => withGroup(group, findings)));
  const findings = groups.flat();
  if (context.stop.aborted) return findings;
  process.stdout.write(`${harmlessJson({ v: 1, ok: isOk(findings), findings }, 2)}\n`);
  return findings;
}

async function withGroup(group: string, findings: Promise<DoctorFinding[]>): Promise<DoctorFinding[]> {
  return (await findings).map(({ name, status, message, fix, ...more }) => {
    const first = { group, name, status, message };
    return { ...first, ...(fix !== undefined && { fix }), ...more };
  });
}

/** Each group as soon as it is known and those before it are shown. */
async function showText(context: DoctorContext, flags: DoctorFlags): Promise<DoctorFinding[]> {
  const lines = createDoctorLines(formatterFor(flags), Math.min(process.stdout.columns ?? 80, MAX_COLUMNS));
  const say = (text: string): void => void process.stdout.write(`${text}\n`);
  const all: DoctorFinding[] = [];
  const examinations = examine(context);
  for (const { group, findings } of examinations) {
    const found = await findings;
    // Those that are under way clear up behind themselves.
    if (context.stop.aborted) await Promise.all(examinations.map((examination) => examination.findings));
    if (context.stop.aborted) return all;
    say(lines.group(group, found).join("\n"));
    all.push(...found);
  }
  say(lines.closing(all));
  return all;
}

const MAX_COLUMNS = 120;

function isOk(findings: DoctorFinding[]): boolean {
  return findings.every(({ status }) => status !== "problem");
}
