import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { OWN_AGENT } from "../records/limited.js";
import { runFolder } from "../records/runs.js";
import { prepareRun } from "../run/prepare.js";
import { handleSignals } from "../run/signals.js";
import type { RunRequest } from "../run/spec.js";
import { hostRun } from "../run/terminal.js";
import { DEFAULT_LIMITS, DEFAULTS } from "../settings/limits.js";
import { createDemoProject, DEMO_AGENT } from "../setup/demo/project.js";
import { exitCodeOf } from "../stop-reasons.js";
import { type OutputFlags, viewFor } from "./output.js";

type DemoFlags = OutputFlags & { keep?: boolean };

const CHECK = "node test.js";
const PROMPT = "Make the tests pass. Say <response>DONE</response> when they do.";

/** `ralph demo`: a real loop over a small project, with an agent that is a script. */
export async function demo(flags: DemoFlags): Promise<number> {
  // From here on, a signal ends the demo and leaves nothing behind.
  const handler = handleSignals(() => {});
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "ralph-demo-")));
  try {
    return await play(folder, flags, handler.signals.stop);
  } finally {
    if (!flags.keep) rmSync(folder, { recursive: true, force: true });
    handler.release();
  }
}

async function play(folder: string, flags: DemoFlags, stop: AbortSignal): Promise<number> {
  const tell = (text: string): void => void (flags.json ? process.stderr : process.stdout).write(`${text}\n`);
  const [workspace, home] = [join(folder, "project"), join(folder, "records")];
  await createDemoProject(workspace);
  const prepared = await prepareRun(
    { ...REQUEST, origin: workspace },
    { settings: DEFAULTS, files: [] },
    { home },
  );
  if ("resume" in prepared) throw new Error("there is no worktree");
  if (stop.aborted) return exitCodeOf("interrupted");
  if (!flags.quiet)
    tell(`A project with failing tests, and an agent that is a script:
no model, no network, no cost (the cost that it reports is part of the play).

  folder  ${workspace}
  prompt  ${PROMPT}
  check   ${CHECK}
`);
  // The demo needs no key of the user.
  const variables = { [OWN_AGENT]: { ANTHROPIC_API_KEY: "", ANTHROPIC_AUTH_TOKEN: "" } };
  const exitCode = await hostRun(
    { ...prepared, variables },
    {
      home,
      env: { PATH: [process.env["PATH"], dirname(process.execPath)].filter(Boolean).join(delimiter) },
      view: await viewFor(flags, { showAgent: true, resumable: false }),
    },
  );
  const report = join(folder, "report.html");
  const { htmlReport } = await import("../views/report/html.js");
  writeFileSync(report, htmlReport((await runFolder(home, prepared.spec.id).report()).report));
  if (flags.quiet) return exitCode;
  const played = exitCode === 0;
  if (played)
    tell("\nIn iteration 2 the agent said DONE. The check said no, so ralph started another iteration.");
  const kept = `  report     ${report}\n  project    ${workspace}`;
  tell(flags.keep ? kept : "ralph removed the project and its report. To keep them: ralph demo --keep");
  if (played) tell("\nFor your own project: ralph init, then ralph run. More: ralph --help");
  return exitCode;
}

const REQUEST: Omit<RunRequest, "origin"> = {
  recipe: {
    kind: "prompt",
    prompt: PROMPT,
    completionResponse: "DONE",
    checks: [{ command: CHECK, failAction: "APPEND", timeoutMs: 60_000 }],
    includeIterationCountInPrompt: true,
  },
  agent: { name: "demo agent", words: [DEMO_AGENT], flags: [], permissions: "unattended" },
  limits: { ...DEFAULT_LIMITS, maxIterations: 5, maxCostUsd: 1 },
  stream: true,
  worktree: false,
  title: "demo",
};
