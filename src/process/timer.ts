/** Longest delay of a timer; a longer one would fire at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** undefined: never. */
export function afterDelay(ms: number | undefined, action: () => void): NodeJS.Timeout | undefined {
  return ms === undefined ? undefined : setTimeout(action, Math.min(Math.max(ms, 0), MAX_DELAY_MS));
}
