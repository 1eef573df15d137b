import type { Signals } from "../loop/effects.js";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** First signal: the current step finishes. Second signal: it ends at once. */
export function handleSignals(onFirst: () => void): { signals: Signals; release(): void } {
  const [stop, kill] = [new AbortController(), new AbortController()];
  const handle = (name: NodeJS.Signals): void => {
    // A run ends with the terminal that shows it. Node forgets that `nohup` switched that off, but
    // under `nohup`, as in the background of a machine, no stream is a terminal.
    const streams = [process.stdin, process.stdout, process.stderr];
    if (name === "SIGHUP" && !streams.some((stream) => stream.isTTY === true)) return;
    if (stop.signal.aborted) {
      kill.abort();
      return;
    }
    onFirst();
    stop.abort();
  };
  for (const name of SIGNALS) process.on(name, handle);
  return {
    signals: { stop: stop.signal, kill: kill.signal },
    release() {
      for (const name of SIGNALS) process.off(name, handle);
      // A signal that arrives while the process ends must not turn its exit code into a death.
      if (stop.signal.aborted) for (const name of SIGNALS) process.on(name, () => {});
    },
  };
}
