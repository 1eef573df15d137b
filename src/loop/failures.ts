const MAX_BACKOFF_SECONDS = 300;

/** 1, 2, 4, 8 … seconds, five minutes at the most. */
export function backoffSeconds(consecutiveFailures: number): number {
  return Math.min(2 ** (consecutiveFailures - 1), MAX_BACKOFF_SECONDS);
}
