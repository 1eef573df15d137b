import { type FleetAddress, fleetAddress } from "../fleet/address.js";
import { type Engine, openEngine } from "../fleet/engine.js";
import { copyRecords, findJob, recordsOf, standingOf } from "../fleet/jobs.js";
import { writableHome } from "../records/home.js";
import { loadSettings } from "../settings/load.js";

/** The engine of the settings of this folder, for as long as something is done with it. */
export async function withFleet<Result>(action: (engine: Engine) => Promise<Result>): Promise<Result> {
  const { settings } = await loadSettings(process.cwd());
  return withEngine(fleetAddress(settings, process.env), action);
}

export async function withEngine<Result>(
  address: FleetAddress,
  action: (engine: Engine) => Promise<Result>,
  options = {},
): Promise<Result> {
  const engine = await openEngine(address, options);
  try {
    return await action(engine);
  } finally {
    await engine.close();
  }
}

/** Copies the records of the fleet for the dashboard, where a fleet is configured. Returns what ends that. */
export async function copyFleet(): Promise<() => void> {
  const stop = new AbortController();
  const { settings } = await loadSettings(process.cwd());
  if (!process.env["RALPH_FLEET"] && settings.fleet?.url === undefined) return () => {};
  const engine = await openEngine(fleetAddress(settings, process.env), { lasting: true });
  void copyRecords(engine, writableHome(), stop.signal).then(() => engine.close());
  return () => stop.abort();
}

/** Brings the records of a job here as they are now; nothing where no fleet is configured. */
export async function fetchRecords(name: string): Promise<void> {
  const { settings } = await loadSettings(process.cwd());
  if (!process.env["RALPH_FLEET"] && settings.fleet?.url === undefined) return;
  await withEngine(fleetAddress(settings, process.env), async (engine) => {
    const entry = await findJob(engine, name).catch(() => undefined);
    if (entry !== undefined) await recordsOf(engine, writableHome(), await standingOf(engine, entry), true);
  });
}
