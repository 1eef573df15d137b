import { findTree, type Tree } from "../process/kill.js";

export interface ActivityWatch {
  /** The agent wrote something. */
  touch(): void;
  end(): void;
}

export interface ActivityOptions {
  timeoutMs: number;
  tree: Tree;
  fingerprint(): Promise<string>;
  onSilence(): void;
}

interface Signs {
  cpuMs: number;
  files: string;
}

const MIN_LOOK_MS = 100;
const MAX_LOOK_MS = 30_000;
const LOOKS = 4;
/** An idle process uses a little time, too: less than this share of a core is not work. */
const WORKING_SHARE = 0.01;
const MIN_WORK_MS = 20;

/**
 * Tells when an agent shows no sign of life: no output, no file changed, no processor time used by its tree.
 * While it writes, nothing else is looked at.
 */
export function watchActivity(options: ActivityOptions): ActivityWatch {
  const { timeoutMs } = options;
  const every = Math.min(Math.max(timeoutMs / LOOKS, MIN_LOOK_MS), MAX_LOOK_MS);
  let touched = false;
  let lastLife = performance.now();
  let before: Signs | undefined;
  let ended = false;

  const look = async (): Promise<void> => {
    if (touched) {
      before = undefined;
      lastLife = performance.now();
    } else {
      const now = await signsOf(options);
      if (before !== undefined && showsLife(before, now, every)) lastLife = performance.now();
      before = now;
    }
    touched = false;
    if (ended) return;
    if (performance.now() - lastLife >= timeoutMs) options.onSilence();
    else schedule();
  };
  let timer: NodeJS.Timeout;
  const schedule = (): void => {
    timer = setTimeout(() => void look(), every);
  };
  schedule();

  return {
    touch() {
      touched = true;
    },
    end() {
      ended = true;
      clearTimeout(timer);
    },
  };
}

async function signsOf({ tree, fingerprint }: ActivityOptions): Promise<Signs> {
  const cpuMs = findTree(tree).reduce((sum, entry) => sum + entry.cpuMs, 0);
  return { cpuMs, files: await fingerprint() };
}

function showsLife(before: Signs, now: Signs, elapsedMs: number): boolean {
  const worked = Math.abs(now.cpuMs - before.cpuMs);
  return now.files !== before.files || worked >= Math.max(MIN_WORK_MS, elapsedMs * WORKING_SHARE);
}
