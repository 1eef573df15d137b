import { which } from "../process/which.js";
import { complaint, dockerRunner, dockerWords, isSignedOut, notSignedIn } from "./docker-cli.js";
import type { DockerProgram, Found, Look } from "./sandbox.js";

const INSTALL = "install sbx, or Docker Desktop 4.58 or later (https://docs.docker.com/ai/sandboxes/)";
/** The successor first. */
const PROGRAMS: DockerProgram[] = ["sbx", "docker"];

/** One that lists its sandboxes works. */
export async function findDocker({ env, workspace, timeoutMs, stop }: Look): Promise<Found> {
  const here = PROGRAMS.filter((name) => which(name, workspace, env["PATH"]).status === "found");
  const problems: string[] = [];
  for (const program of here) {
    const limits = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(stop ? [stop] : [])]);
    const result = await dockerRunner(program, { workspace, env, stop: limits })(["ls"]);
    if (result.ok) return { status: "works", about: dockerWords(program).join(" "), program };
    const said = complaint(result);
    if (isSignedOut(said)) return signedOut(program);
    problems.push(hasNoSandbox(said) ? "this docker has no sandboxes" : `${program}: ${said}`);
  }
  if (problems.length === 0)
    return { status: "missing", why: "neither sbx nor docker is installed", fix: INSTALL };
  return { status: "broken", why: problems.join("; "), fix: INSTALL };
}

function signedOut(program: DockerProgram): Found {
  const { message, hint = "" } = notSignedIn(program);
  return { status: "broken", why: message, fix: hint };
}

function hasNoSandbox(said: string): boolean {
  return /is not a docker command|unknown command|unknown (shorthand )?flag/i.test(said);
}
