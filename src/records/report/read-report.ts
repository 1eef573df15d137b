import { existsSync } from "node:fs";
import { type RunSpec, readSpec, shownSpec } from "../../run/spec.js";
import { readEvents } from "../read-events.js";
import { type Report, reportOf } from "../report.js";
import { runStatus } from "../run-status.js";
import { type RunFolder, readRun } from "../runs.js";

export interface ReportReading {
  report: Report;
  /** Lines of the journal that could not be read and were left out. */
  unreadable: number;
}

/** What the records of a run tell. */
export function readReport(home: string, folder: RunFolder): ReportReading {
  const { workspace } = readSpec(folder);
  const shown = shownSpec(folder);
  const status = runStatus(home, folder.id, workspace, readRun(folder)?.state.status);
  let unreadable = 0;
  const events = existsSync(folder.journal)
    ? readEvents(folder.journal, () => {
        unreadable += 1;
      })
    : [];
  const report = reportOf(
    {
      run: folder.id,
      recipe: shown.recipe.kind,
      task: taskOf(shown),
      agent: shown.agent.name,
      workspace: shown.workspace,
      limits: shown.limits,
      startedAt: shown.createdAt,
      status,
    },
    events,
    new Date(),
  );
  return { report, unreadable };
}

/** What the run was asked to do, or the file that says it. */
export function taskOf({ recipe }: RunSpec): string {
  switch (recipe.kind) {
    case "prompt":
      return recipe.prompt ?? recipe.promptFile ?? "";
    case "repeat":
      return recipe.promptFile;
    case "checks":
      return recipe.specFile ?? recipe.task;
    case "stories":
      return `${recipe.dir}/tasks.json`;
    case "pipeline":
      return recipe.specFile;
  }
}
