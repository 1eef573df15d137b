import { RalphError } from "../errors.js";
import { quoteWord } from "../words.js";

export interface Outside {
  /** What the library says is to be run. */
  wrapped: string;
  /** File with the filter of `kernelFilter`. */
  filter: string | undefined;
  /** File with more of its flags, as `mountFlags` gives them. */
  mounts: string;
  /** Whether what is inside takes signals as usual again. */
  restoresSignals: boolean;
  platform: NodeJS.Platform;
}

/** The script of the shell outside, which becomes bubblewrap or Seatbelt. */
export function outsideScript(outside: Outside): string {
  const { wrapped, filter, mounts, restoresSignals, platform } = outside;
  const command = platform === "linux" ? stricter(outside) : wrapped;
  const files = platform === "linux" ? { [MOUNTS_FD]: mounts, [FILTER_FD]: filter } : {};
  const opened = Object.entries(files).flatMap(([fd, file]) =>
    file === undefined ? [] : [`${fd}<${quoteWord(file)}`],
  );
  // The whole tree is told to end: bubblewrap must not go before the agent has had its time.
  const deaf = restoresSignals ? "trap '' TERM\n" : "";
  return `${CLOSE_INHERITED}\n${deaf}exec ${command} ${opened.join(" ")}`;
}

/** One that ralph was started with could be a folder outside, or a file that is written. */
const CLOSE_INHERITED =
  "for fd in /dev/fd/*; do fd=$" +
  '{fd##*/}; case $fd in [012]|*[!0-9]*) ;; *) eval "exec $fd>&-";; esac; done';

/** The library uses the ninth. */
const [MOUNTS_FD, FILTER_FD] = [7, 8];
const FIRST_FLAGS = "--new-session --die-with-parent";

/** What comes after all of its mounts. */
const AFTER_MOUNTS = " --dev /dev --unshare-pid ";

/** What the library does not ask for: memory and queues that programs share are those of this sandbox alone. */
function stricter({ wrapped, filter }: Outside): string {
  const more = ["--unshare-ipc", ...(filter === undefined ? [] : ["--seccomp", String(FILTER_FD)])];
  const last = wrapped.lastIndexOf(AFTER_MOUNTS);
  if (wrapped.includes(FIRST_FLAGS) && last !== -1) {
    const mounted = `${wrapped.slice(0, last)} --args ${MOUNTS_FD}${wrapped.slice(last)}`;
    return mounted.replace(FIRST_FLAGS, () => `${more.join(" ")} ${FIRST_FLAGS}`);
  }
  throw new RalphError(
    "the sandbox srt cannot be made: its library starts bubblewrap in a way that is not known",
    {
      code: "sandbox_failed",
      hint: "install the version that ralph names; --no-sandbox goes without it",
    },
  );
}
