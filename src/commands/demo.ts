import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { describeSystemError, RalphError } from "../errors.js";
import { OWN_AGENT } from "../records/limited.js";
import { runFolder } from "../records/runs.js";
import type { RunRequest } from "../run/context.js";
import { prepareRun } from "../run/prepare.js";
import { handleSignals } from "../run/signals.js";
import { hostRun } from "../run/terminal.js";
import { DEFAULT_LIMITS, DEFAULTS } from "../settings/limits.js";
import { createDemoProject, DEMO_AGENT } from "../setup/demo/project.js";
import { exitCodeOf } from "../stop-reasons.js";
import { type OutputFlags, surviveClosedPipe, viewFor } from "./output.js";

export interface DemoFlags extends OutputFlags {
  keep?: boolean;
}

const CHECK = "node test.js";
const PROMPT = "Make the tests pass. Say <response>DONE</response> when they do.";

/** `ralph demo`: a real loop over a small project, with an agent that is a script. */
export async function demo(flags: DemoFlags): Promise<number> {
  surviveClosedPipe();
  // From here on a signal ends the demo in good order: nothing is left behind.
  const handler = handleSignals(() => {});
  const folder = temporaryFolder();
  try {
    return await play(folder, flags, handler.signals.stop);
  } finally {
    if (!flags.keep) rmSync(folder, { recursive: true, force: true });
    handler.release();
  }
}

function temporaryFolder(): string {
  try {
    return realpathSync(mkdtempSync(join(tmpdir(), "ralph-demo-")));
  } catch (error) {
    throw new RalphError(`cannot make a folder in ${tmpdir()}: ${describeSystemError(error)}`, {
      code: "no_temporary_folder",
      hint: "set TMPDIR to a folder that can be written to",
    });
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
  if (!flags.quiet) tell(opening(workspace));
  // A key of the user's has nothing to do with it.
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
  if (!flags.quiet) tell(closing(report, workspace, { keep: flags.keep ?? false, played: exitCode === 0 }));
  return exitCode;
}

const REQUEST: Omit<RunRequest, "origin"> = {
  recipe: {
    kind: "prompt",
    prompt: PROMPT,
    completionResponse: "DONE",
    guardrails: [{ command: CHECK, failAction: "APPEND", timeoutMs: 60_000 }],
    outputTruncateChars: 5000,
    includeIterationCountInPrompt: true,
  },
  agent: { name: "demo agent", words: [DEMO_AGENT], flags: [], permissions: "unattended" },
  limits: { ...DEFAULT_LIMITS, maxIterations: 5, maxCostUsd: 1 },
  stream: true,
  worktree: false,
  title: "demo",
};

function opening(workspace: string): string {
  return `A project with failing tests, and an agent that is a script:
no model, no network, no cost (the cost that it reports is part of the play).

  folder  ${workspace}
  prompt  ${PROMPT}
  check   ${CHECK}
`;
}

function closing(
  report: string,
  workspace: string,
  { keep, played }: { keep: boolean; played: boolean },
): string {
  const lines = [
    ...(played ? ["", "In iteration 2 the agent said DONE. The check said no, so ralph went on."] : []),
    `  report     ${report}`,
    keep ? `  project    ${workspace}` : "  All of it was removed again. To keep it: ralph demo --keep",
    ...(played ? ["", "For your own project: ralph init, then ralph run. More: ralph --help"] : []),
  ];
  return lines.join("\n");
}
