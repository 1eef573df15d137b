import type { ScmFinished } from "../../events.js";
import { git } from "../../workspace/git.js";
import { type FindNewPrograms, trustNow } from "../../workspace/git-programs.js";
import { whyNotSigned } from "../../workspace/scm.js";
import { innerRefusal, stage } from "../../workspace/stage.js";
import { unfinished } from "../../workspace/start.js";
import { uncommittedFiles } from "../../workspace/uncommitted.js";

export interface UncommittedWork {
  workspace: string;
  iteration: number;
  message: string;
  /** What was not committed before the run is the user's. */
  dirty: string[];
  kill: AbortSignal;
  /** What git would run that it did not run when the run began. */
  newPrograms?: FindNewPrograms | undefined;
}

const MAX_CHARS = 2000;

/** What an agent has not committed of work that has passed its gate. undefined: there is nothing. */
export async function commitLeftovers(leftovers: UncommittedWork): Promise<ScmFinished | undefined> {
  const { workspace, iteration, message, dirty, kill: stop } = leftovers;
  const begun = performance.now();
  const trust = await trustNow(leftovers.newPrograms);
  if (trust.refusal !== undefined) return finished(1, trust.refusal);
  const halfDone = await unfinished(workspace);
  if (halfDone !== undefined) return finished(1, halfDone);
  const files = ((await uncommittedFiles(workspace)) ?? []).filter((file) => !dirty.some(isIn(file)));
  if (files.length === 0) return undefined;
  const paths = files.map((file) => `:(top,literal)${file}`);
  const added = await stage(workspace, paths, { stop });
  const inner = added.inner.filter((path) => !dirty.includes(`${path}/`));
  if (added.ok && inner.length > 0) return finished(1, innerRefusal(inner));
  const unsigned = await whyNotSigned(workspace, stop);
  if (unsigned !== undefined) return finished(1, unsigned);
  const done = added.ok
    ? await git(workspace, ["commit", "--quiet", "-m", message, "--", ...paths], { stop, hooks: trust.hooks })
    : added;
  const said = `${done.stdout}${done.stderr}`.trim().slice(-MAX_CHARS);
  return finished(done.exitCode, done.ok ? `${message}${trust.note}` : said);

  function finished(exitCode: number | null, text: string): ScmFinished {
    const durationMs = Math.round(performance.now() - begun);
    const passed = exitCode === 0;
    return { type: "scm.finished", iteration, task: "commit", passed, exitCode, durationMs, message: text };
  }
}

/** Of a folder that was new as a whole, git names the files when it knows one of them. */
function isIn(file: string): (dirty: string) => boolean {
  return (dirty) => file === dirty || (dirty.endsWith("/") && file.startsWith(dirty));
}
