import { statSync } from "node:fs";
import { homedir } from "node:os";
import { RalphError } from "../../errors.js";
import { inPackage } from "../../package-folder.cjs";
import { ralphHome } from "../../records/home.js";
import { createRedactor, type Redact } from "../../records/redact.js";
import { type LoadedSettings, loadSettings } from "../../settings/load.js";
import { nodeRange } from "../../version.cjs";

/** The machine and the folder that are examined. */
export interface DoctorContext {
  env: NodeJS.ProcessEnv;
  platform: NodeJS.Platform;
  uid: number | undefined;
  /** The user's home folder. */
  home: string;
  workspace: string;
  /** Where ralph keeps its records. */
  records: string;
  /** Or why they cannot be used. */
  settings: LoadedSettings | RalphError;
  node: { version: string; path: string; needed: string };
  now: Date;
  /** When this program was built or installed: no clock is earlier. */
  builtAt: Date;
  /** Ends what is still being asked. */
  stop: AbortSignal;
  redact: Redact;
}

export async function currentContext(stop: AbortSignal): Promise<DoctorContext> {
  const workspace = process.cwd();
  return {
    env: process.env,
    platform: process.platform,
    uid: process.getuid?.(),
    home: homedir(),
    workspace,
    records: ralphHome(),
    settings: await settingsOrReason(workspace),
    node: { version: process.versions.node, path: process.execPath, needed: nodeRange() },
    now: new Date(),
    builtAt: statSync(inPackage("dist/main.js")).mtime,
    stop,
    redact: createRedactor(process.env),
  };
}

async function settingsOrReason(workspace: string): Promise<LoadedSettings | RalphError> {
  try {
    return await loadSettings(workspace);
  } catch (error) {
    if (error instanceof RalphError) return error;
    throw error;
  }
}
