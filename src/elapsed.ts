/** Milliseconds by a clock that nobody sets. The first `performance.now()` loads a dozen modules of Node. */
export function elapsed(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}
