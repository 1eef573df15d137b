import { basename } from "node:path";
import { ralphHome } from "../../records/home.js";
import { glances } from "../../workers/look.js";
import { runs } from "./runs.js";
import type { Candidate } from "./values.js";

/** Every worker. */
export async function workers(): Promise<Candidate[]> {
  const found = glances(ralphHome(), () => {}).filter(({ kind }) => kind === "worker");
  return found.map(({ name, status, iteration, maxIterations, workspace }) => ({
    value: name,
    description: `${status} ${iteration}/${maxIterations} in ${basename(workspace)}`,
  }));
}

/** Every worker, then the latest runs. */
export async function loops(): Promise<Candidate[]> {
  return [...(await workers()), ...(await runs())];
}
