import { createRequire } from "node:module";
import { PROGRAM } from "../package-folder.cjs";
import { capture } from "../process/capture.js";
import { which } from "../process/which.js";
import type { Found, Look } from "./sandbox.js";

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

/** Whether the library is installed and a namespace can be made. */
export async function findSrt({ env, workspace, platform, timeoutMs, stop }: Look): Promise<Found> {
  const isHere = (name: string): boolean => which(name, workspace, env["PATH"]).status === "found";
  if (!hasLibrary()) {
    return { status: "missing", why: `${LIBRARY} is not installed`, fix: `npm install -g ${LIBRARY}` };
  }
  if (platform === "darwin" && isHere("sandbox-exec")) return { status: "works", about: "sandbox-exec" };
  if (platform !== "linux") return { status: "broken", why: "not for this system", fix: "use docker" };
  const missing = Object.entries(PROGRAMS).filter(([name]) => !isHere(name));
  if (missing.length > 0) {
    const why = `${missing.map(([name]) => name).join(", ")} not found`;
    const packages = missing.map(([, name]) => name);
    const fix = `install ${packages.join(", ")} (Debian: apt-get install ${packages.join(" ")})`;
    return { status: "missing", why, fix, packages };
  }
  const trial = await capture(
    { file: "bwrap", args: [...TRIAL, "true"], cwd: workspace, env },
    { timeoutMs, ...(stop && { stop }) },
  );
  if (trial.ok) return { status: "works", about: "bubblewrap" };
  const why = trial.stderr.trim().split("\n")[0] || "bwrap does not work";
  return { status: "broken", why, fix: "allow user namespaces (ralph doctor tells how)" };
}

function hasLibrary(): boolean {
  try {
    createRequire(PROGRAM).resolve(LIBRARY);
    return true;
  } catch {
    return false;
  }
}
