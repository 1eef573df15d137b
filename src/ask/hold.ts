import { setTimeout as sleep } from "node:timers/promises";
import { orElse } from "../errors.js";
import { findStrays, findTree, type ProcessTree } from "../process/kill.js";
import { startTimeOf } from "../process/table.js";

export type Hold = ReturnType<typeof createHold>;

const POLL_MS = 5;

/** Agents, and what none of them may see: while it runs, they stand still and none is started. */
export function createHold() {
  /** undefined: it has no process yet. */
  const calls = new Map<object, ProcessTree | undefined>();
  const stopped = new Map<number, string>();
  let waiting: (() => void)[] = [];
  let holders = 0;
  // It may have ended.
  const send = (pid: number, signal: NodeJS.Signals) => orElse(() => process.kill(pid, signal), false);
  /** Listed again and again: a tree can fork while it is stopped. */
  const stopAll = async (): Promise<void> => {
    for (;;) {
      const trees = [...calls.values()];
      const found = trees.flatMap((tree) => (tree === undefined ? [] : findTree(tree)));
      // Those that agents have left where ralph did not find them.
      found.push(...findStrays());
      const fresh = found.filter(({ pid, startTime }) => stopped.get(pid) !== startTime);
      if (fresh.length === 0 && !trees.includes(undefined)) return;
      for (const { pid, startTime } of fresh) {
        send(pid, "SIGSTOP");
        stopped.set(pid, startTime);
      }
      await sleep(POLL_MS);
    }
  };
  const release = (): void => {
    for (const [pid, startTime] of stopped) if (startTimeOf(pid) === startTime) send(pid, "SIGCONT");
    stopped.clear();
    for (const goOn of waiting) goOn();
    waiting = [];
  };
  return {
    isHeld: (): boolean => holders > 0,
    /** An agent is about to be started. */
    async enter() {
      while (holders > 0) await new Promise<void>((goOn) => waiting.push(goOn));
      const call = {};
      calls.set(call, undefined);
      return {
        started: (tree: ProcessTree): void => void calls.set(call, tree),
        leave: (): void => void calls.delete(call),
      };
    },
    /** Does something that no agent may see. */
    async alone<Result>(action: () => Promise<Result>): Promise<Result> {
      holders += 1;
      try {
        await stopAll();
        return await action();
      } finally {
        holders -= 1;
        if (holders === 0) release();
      }
    },
  };
}
