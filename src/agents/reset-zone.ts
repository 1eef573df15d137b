import { isZone } from "../zoned-time.js";

/** Minutes ahead of UTC. */
const SHORT_ZONES: Record<string, number> = {
  ...{ UTC: 0, GMT: 0, BST: 60, CET: 60, CEST: 120, EET: 120, EEST: 180, IST: 330, JST: 540, KST: 540 },
  ...{ EST: -300, EDT: -240, CST: -360, CDT: -300, MST: -420, MDT: -360, PST: -480, PDT: -420 },
  ...{ WET: 0, WEST: 60, MSK: 180, SGT: 480, HKT: 480, AWST: 480, AEST: 600, AEDT: 660, BRT: -180 },
};

export const SHORT_NAMES = String.raw`(?:UTC|GMT)[+-]\d{1,2}(?::?\d\d)?|${Object.keys(SHORT_ZONES).join("|")}`;
/** What may stand behind a time: `(Asia/Seoul)`, `Europe/Berlin`, `PST`, `UTC+2`. */
export const ZONE = String.raw`\s*(?:\((?<zone>[\w+/-]+)\)|(?<bare>[A-Z]\w+/[A-Z][\w+/-]+)|\(?(?<short>${SHORT_NAMES})\b)?`;

type Found = Record<string, string | undefined>;

/** The moment that clocks in the zone that was found by `ZONE` show; undefined: there is no such zone. */
export function inToldZone(
  found: Found,
  now: Date,
  ownZone: string,
  momentIn: (zone: string, now: Date) => Date | undefined,
): Date | undefined {
  const named = found["zone"] ?? found["bare"];
  const minutes = minutesAhead(found["short"] ?? named ?? "");
  const zone = named ?? ownZone;
  if (minutes === undefined) return isZone(zone) ? momentIn(zone, now) : undefined;
  const shown = momentIn("UTC", new Date(now.getTime() + minutes * 60_000));
  return shown && new Date(shown.getTime() - minutes * 60_000);
}

/** `PST`, `UTC+2`; undefined: it is no such zone. */
function minutesAhead(zone: string): number | undefined {
  const [, sign, hours = "", minutes = "0"] = /^(?:UTC|GMT)([+-])(\d{1,2}):?(\d\d)?$/i.exec(zone) ?? [];
  if (sign === undefined) return SHORT_ZONES[zone.toUpperCase()];
  return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}
