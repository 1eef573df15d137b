import { capture } from "../process/capture.js";
import { which } from "../process/which.js";
import type { Found } from "./sandbox.js";

const LIBRARY = "@anthropic-ai/sandbox-runtime";
/** What the library needs on Linux, by the names of programs and of packages. */
const PROGRAMS = { bwrap: "bubblewrap", socat: "socat", rg: "ripgrep", bash: "bash" };
const TRIAL = [
  "--ro-bind",
  "/",
  "/",
  "--unshare-all",
  "--proc",
  "/proc",
  "--dev",
  "/dev",
  "--die-with-parent",
];
const TRIAL_MS = 5000;

/** Whether the library is installed and a namespace can be made. */
export async function findSrt(env: NodeJS.ProcessEnv, workspace: string): Promise<Found> {
  const isHere = (name: string): boolean => which(name, workspace, env["PATH"]).status === "found";
  if (!hasLibrary()) {
    return { status: "missing", why: `${LIBRARY} is not installed`, fix: `npm install -g ${LIBRARY}` };
  }
  if (process.platform === "darwin" && isHere("sandbox-exec")) return { status: "works" };
  if (process.platform !== "linux")
    return { status: "broken", why: "not for this system", fix: "use docker" };
  const missing = Object.entries(PROGRAMS).filter(([name]) => !isHere(name));
  if (missing.length > 0) {
    const why = `${missing.map(([name]) => name).join(", ")} not found`;
    const packages = missing.map(([, name]) => name).join(" ");
    return {
      status: "missing",
      why,
      fix: `for srt install ${packages} (Debian: apt-get install ${packages})`,
    };
  }
  const trial = await capture(
    { file: "bwrap", args: [...TRIAL, "true"], cwd: workspace, env },
    { timeoutMs: TRIAL_MS },
  );
  if (trial.ok) return { status: "works" };
  const why = trial.stderr.trim().split("\n")[0] || "bwrap does not work";
  return { status: "broken", why, fix: "for srt allow user namespaces (ralph doctor tells how)" };
}

function hasLibrary(): boolean {
  try {
    import.meta.resolve(LIBRARY);
    return true;
  } catch {
    return false;
  }
}
