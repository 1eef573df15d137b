import { parseDuration } from "../duration.js";
import { RalphError } from "../errors.js";
import { invalid } from "../settings/limits.js";
import type { Settings } from "../settings/schema.js";

/** Where the engine of the fleet is, and what the settings say of the fleet. */
export interface FleetAddress {
  url: string;
  kind: "redis" | "postgres";
  /** The same without its password, to be shown. */
  shown: string;
  leaseMs: number;
  maxCostPerDay: number | undefined;
}

const SCHEMES: Record<string, FleetAddress["kind"]> = {
  "redis:": "redis",
  "rediss:": "redis",
  "postgres:": "postgres",
  "postgresql:": "postgres",
};

const LEASE_MS = 60_000;
const LEAST_LEASE_MS = 1000;

export function fleetAddress({ fleet = {} }: Settings, env: NodeJS.ProcessEnv): FleetAddress {
  const url = env["RALPH_FLEET"] || fleet.url;
  if (url === undefined)
    throw new RalphError("no fleet is configured", {
      code: "fleet_unknown",
      hint: "set RALPH_FLEET or fleet.url to redis://… or postgres://…; ralph fleet up starts a PostgreSQL of its own",
    });
  const name = env["RALPH_FLEET"] ? "RALPH_FLEET" : "fleet.url";
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const kind = SCHEMES[parsed?.protocol ?? ""];
  if (parsed === undefined || kind === undefined || parsed.hostname === "")
    throw new RalphError(`${name}: expected an address that starts with redis://, rediss:// or postgres://`, {
      code: "fleet_invalid",
    });
  return {
    url,
    kind,
    shown: shownUrl(parsed),
    leaseMs: leaseFrom(fleet.lease, env),
    maxCostPerDay: fleet.maxCostPerDay,
  };
}

/** Neither the password nor what stands behind the `?`, where one may be, too. */
function shownUrl({ protocol, username, host, pathname }: URL): string {
  return `${protocol}//${username === "" ? "" : `${username}@`}${host}${pathname}`;
}

function leaseFrom(
  setting: string | number | undefined,
  { RALPH_FLEET_LEASE: given }: NodeJS.ProcessEnv,
): number {
  const value = given || setting;
  if (value === undefined) return LEASE_MS;
  const ms = parseDuration(value);
  if (ms !== undefined && ms >= LEAST_LEASE_MS) return ms;
  throw invalid(
    given ? "RALPH_FLEET_LEASE" : "fleet.lease",
    String(value),
    "a duration of at least 1s, such as 60s",
  );
}
