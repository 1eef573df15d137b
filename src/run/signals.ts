import type { Signals } from "../loop/effects.js";

export interface SignalHandler {
  signals: Signals;
  release(): void;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** First signal: the operation at work is finished. Second one: it is ended at once. */
export function handleSignals(onFirst: () => void): SignalHandler {
  const stop = new AbortController();
  const kill = new AbortController();
  const handle = (name: NodeJS.Signals): void => {
    if (name === "SIGHUP" && !hasTerminal()) return;
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
    },
  };
}

/**
 * The end of a terminal ends the run that is shown in it. Node forgets that `nohup` switched that off, but
 * under `nohup`, as in the background of a machine, no stream is a terminal.
 */
function hasTerminal(): boolean {
  return [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY === true);
}
