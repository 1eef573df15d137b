const UNIT_MS: Record<string, number> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** `600` and `"600"` are seconds; `90s`, `10m`, `2h` say their unit. undefined: not a duration. */
export function parseDuration(value: string | number): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)?$/.exec(String(value).trim());
  if (match === null) return undefined;
  return Math.round(Number(match[1]) * (UNIT_MS[match[2] ?? "s"] as number));
}

/** `45.2s`, `6m7s`, `2h5m`. */
export function formatDuration(ms: number): string {
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)}s`;
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m${seconds % 60}s`;
  return `${Math.floor(minutes / 60)}h${minutes % 60}m`;
}
