import { hostRun } from "../run/terminal.js";
import { assignment } from "../workers/assignment.js";
import { type ReportingFlags, viewStream } from "./reporting.js";

/** Where the loop of a command runs and is shown. */
export interface Hosting {
  out: NodeJS.WriteStream;
  run: typeof hostRun;
  /** The worker that this process is the loop of. */
  worker: string | undefined;
}

/** In this terminal, or in the window of the worker that this process was made for. */
export async function hostingFor(flags: ReportingFlags): Promise<Hosting> {
  const post = assignment();
  if (post === undefined) return { out: viewStream(flags), run: hostRun, worker: undefined };
  const { hostWorker, windowStream } = await import("../run/worker.js");
  const out = windowStream(post);
  return { out, run: (spec, options) => hostWorker(spec, options, out, post), worker: post.name };
}
