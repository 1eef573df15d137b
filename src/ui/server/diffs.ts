import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import type { RunFolder } from "../../records/runs.js";
import { diffSince } from "../../workspace/changes.js";
import type { DiffPage } from "../api.js";

/** What a run has changed since it began. */
export async function diffPage(run: RunFolder, _: Record<string, string>): Promise<DiffPage> {
  const spec = run.shown() as ReturnType<RunFolder["shown"]> & { base?: string };
  const { workspace, base } = spec;
  const none = (why: string): DiffPage => ({ at: "", base: base ?? null, patch: "", why });
  if (!existsSync(workspace)) return none(`its folder is gone: ${workspace}`);
  const patch = await diffSince({ workspace, base });
  if (patch === undefined) return none("git cannot tell what has changed there");
  return { at: createHash("sha256").update(patch).digest("hex").slice(0, 16), base: base ?? null, patch };
}
