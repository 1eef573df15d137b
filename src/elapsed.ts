/**
 * Milliseconds by a clock that nobody sets. Node loads a dozen modules for the first `performance.now()`, which every
 * start of a run would wait for.
 */
export function elapsed(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}
