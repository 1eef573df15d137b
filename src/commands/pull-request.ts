import { RalphError } from "../errors.js";
import { ralphHome } from "../records/home.js";
import { type RunFolder, runFolder } from "../records/runs.js";
import { harmlessLine } from "../views/harmless.js";
import { note, type PrintFlags, printAs, warn } from "./output.js";

/** Runs on GitHub: `ralph pr`, and what `--pr` does. */

export interface PrFlags extends PrintFlags {
  draft?: boolean;
  base?: string;
  reviewer?: string[];
}

/** `ralph pr [RUN]`: opens the pull request of a run, or brings it up to date. */
export async function pr(name: string | undefined, flags: PrFlags): Promise<number> {
  const { loopMeant, runHere } = await import("./find.js");
  return show(runHere(loopMeant(name, "latest")), flags);
}

async function show(
  run: RunFolder,
  { draft = false, base, reviewer = [], ...flags }: PrFlags,
): Promise<number> {
  const { deliver } = await import("../github/deliver.js");
  const { pull, what, notes } = await deliver(run, { isDraft: draft, base, reviewers: reviewer }, note);
  for (const text of notes) warn(text);
  const { number, url, isDraft } = pull;
  const draftWord = isDraft ? "draft " : "";
  return printAs(flags, { v: 1, number, url, what, draft: isDraft, run: run.id }, () => [
    harmlessLine(`${what} ${draftWord}pull request ${number}: ${url}`),
  ]);
}

/** Before a run with `--pr` spends anything: whether a pull request can be opened at its end. */
export async function requirePullRequest(
  checkout: string,
  worktree: string | boolean | undefined,
): Promise<void> {
  if (worktree === undefined || worktree === false)
    throw new RalphError("--pr needs --worktree: ralph pushes only its own branches", {
      code: "flag_invalid",
      hint: "add --worktree",
    });
  const { forgeOf, requirePush } = await import("../github/remote.js");
  await requirePush(await forgeOf(checkout, { tell: note }));
}

/** At the end of a run with `--pr`. Its outcome stands; the exit code tells that the pull request is missing. */
export async function deliverAtEnd(run: string, exitCode: number, isJson = false): Promise<number> {
  const folder = runFolder(ralphHome(), run);
  const name = folder.name();
  if (exitCode !== 0) {
    note(`no pull request: the run did not succeed (ralph pr ${name} --draft opens a draft that says why)`);
    return exitCode;
  }
  try {
    const { deliver } = await import("../github/deliver.js");
    const { pull, what, notes } = await deliver(folder, {}, note);
    for (const text of notes) warn(text);
    const text = harmlessLine(`${what} pull request ${pull.number}: ${pull.url}`);
    if (isJson) note(text);
    else process.stdout.write(`${text}\n`);
    return exitCode;
  } catch (error) {
    if (!(error instanceof RalphError)) throw error;
    const { message, hint } = error;
    note(
      `error: the run is done, but has no pull request: ${harmlessLine(message)}${hint ? ` (${hint})` : ""}`,
    );
    note(`ralph pr ${name} tries again`);
    return 1;
  }
}
