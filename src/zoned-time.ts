/** A date and a time as people say them, in some time zone. */
export interface WallTime {
  year: number;
  /** 1 to 12. */
  month: number;
  day: number;
  hour: number;
  minute: number;
}

const MINUTE_MS = 60_000;

export function localZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

export function isZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

/** What clocks in a zone show at a moment. */
export function wallTimeAt(moment: Date, zone: string): WallTime {
  const parts = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
  }).formatToParts(moment);
  const value = (type: Intl.DateTimeFormatPartTypes): number =>
    Number(parts.find((part) => part.type === type)?.value);
  return {
    year: value("year"),
    month: value("month"),
    day: value("day"),
    hour: value("hour"),
    minute: value("minute"),
  };
}

/**
 * The moment at which clocks in a zone show this. A time that clocks skip in spring is the one as long after
 * the change; of one that they show twice in autumn it is the first.
 */
export function momentOf(time: WallTime, zone: string): Date {
  return momentsOf(time, zone)[0];
}

/** All of them: in autumn there is an hour that clocks show twice. */
export function momentsOf(time: WallTime, zone: string): [Date, ...Date[]] {
  const asUtc = utcOf(time);
  const offsets = [asUtc - DAY_MS, asUtc + DAY_MS].map((at) => offsetAt(at, zone));
  const moments = offsets.map((offset) => asUtc - offset);
  const [first = moments[0] ?? asUtc, second = first] = moments.filter(
    (moment) => moment + offsetAt(moment, zone) === asUtc,
  );
  return [new Date(first), new Date(second)];
}

const DAY_MS = 24 * 60 * MINUTE_MS;

/** How far the clocks of a zone are ahead of UTC. */
function offsetAt(moment: number, zone: string): number {
  return utcOf(wallTimeAt(new Date(moment), zone)) - Math.floor(moment / MINUTE_MS) * MINUTE_MS;
}

function utcOf({ year, month, day, hour, minute }: WallTime): number {
  return Date.UTC(year, month - 1, day, hour, minute);
}
