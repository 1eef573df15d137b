import { createHash } from "node:crypto";
import { RalphError } from "../errors.js";
import { type Captured, capture } from "../process/capture.js";
import { withOuterPath } from "../process/outer-path.js";
import { which } from "../process/which.js";
import type { Availability, DockerProgram, FindOptions, SandboxScope } from "./sandbox.js";

/** `docker sandbox`, and its successor `sbx`, which knows the same commands: the successor first. */
const PROGRAMS = {
  /** It knows no underscores. `plain`: paths of which no two have the same name. */
  sbx: { words: ["sbx"], signIn: "sbx login", plain: /^[A-Za-z0-9./]*$/ },
  docker: {
    words: ["docker", "sandbox"],
    signIn: "docker login, or sign in to Docker Desktop",
    plain: /^[A-Za-z0-9./-]*$/,
  },
} satisfies Record<DockerProgram, unknown>;

export function dockerWords(program: DockerProgram, ...words: string[]): string[] {
  return [...PROGRAMS[program].words, ...words];
}

/**
 * The folder's path, as far as a name can say it. With sbx what is denied stays denied, so that the sandbox that
 * reaches no host is one of its own.
 */
export function sandboxName(program: DockerProgram, workspace: string, hosts: string[]): string {
  const text = `ralph-${workspace.replace(/[^A-Za-z0-9._-]/g, "_")}`;
  const name = program === "docker" ? text : text.replaceAll("_", "-").replace(/-+/g, "-");
  const digest = createHash("sha256").update(workspace).digest("hex").slice(0, 8);
  const unique = PROGRAMS[program].plain.test(workspace) ? name : `${name}-${digest}`;
  return program === "sbx" && hosts.length === 0 ? `${unique}-offline` : unique;
}

/** Lets these hosts be reached, and where the program can, no others. */
export function networkPolicy(program: DockerProgram, name: string, hosts: string[]): string[] {
  if (program === "docker")
    return ["network", "proxy", name, "--policy", "deny", ...hosts.flatMap((host) => ["--allow-host", host])];
  const [rule, what] = hosts.length === 0 ? ["deny", "**"] : ["allow", hosts.join(",")];
  return ["policy", rule, "network", "--sandbox", name, what];
}

export interface DockerCli {
  run(words: string[], stdin?: string): Promise<Captured>;
  /** The same, and a failure is one of the run. */
  insist(words: string[], stdin?: string): Promise<string>;
}

/** Creating a sandbox may have to fetch an image. */
const TIMEOUT_MS = 15 * 60_000;

export function dockerCli(
  program: DockerProgram,
  scope: Pick<SandboxScope, "workspace" | "env" | "stop">,
): DockerCli {
  const { workspace: cwd, stop } = scope;
  const env = withOuterPath(scope.env, cwd);
  const run: DockerCli["run"] = (words, stdin) => {
    const [file = "", ...args] = dockerWords(program, ...words);
    const command = { file, args, cwd, env, ...(stdin !== undefined && { stdin }) };
    return capture(command, { timeoutMs: TIMEOUT_MS, stop });
  };
  return {
    run,
    async insist(words, stdin) {
      const result = await run(words, stdin);
      if (result.ok) return result.stdout;
      const why = complaint(result);
      if (isSignedOut(why))
        throw new RalphError(notSignedIn(program), {
          code: "sandbox_not_logged_in",
          hint: PROGRAMS[program].signIn,
        });
      const command = dockerWords(program, ...words.slice(0, 1)).join(" ");
      throw new RalphError(`${command} failed: ${why}`, {
        code: "sandbox_failed",
        hint: "--no-sandbox goes without it",
      });
    },
  };
}

function notSignedIn(program: DockerProgram): string {
  return `${program} is not logged in to Docker`;
}

const SIGNED_OUT =
  /not (signed|logged) in|no valid user session|sign in to docker|session (has )?expired|401 unauthorized|not authenticated/i;

export function isSignedOut(text: string): boolean {
  return SIGNED_OUT.test(text);
}

/** The first line of what went wrong. */
function complaint({ stderr, stdout, spawnError, exitCode, timedOut }: Captured): string {
  if (spawnError !== undefined) return spawnError.message;
  if (timedOut) return "it did not answer in time";
  const lines = `${stderr}\n${stdout}`.split("\n").map((line) => line.trim());
  return lines.find(isSignedOut) ?? lines.find((line) => line !== "") ?? `exit code ${exitCode}`;
}

const INSTALL = "install sbx, or Docker Desktop 4.58 or later (https://docs.docker.com/ai/sandboxes/)";
const NO_SANDBOX = /is not a docker command|unknown command|unknown (shorthand )?flag/i;

/** A program that lists its sandboxes works. */
export async function findDocker({ env, workspace, timeoutMs, stop }: FindOptions): Promise<Availability> {
  const problems: string[] = [];
  for (const program of Object.keys(PROGRAMS) as DockerProgram[]) {
    if (which(program, workspace, env["PATH"]).status !== "found") continue;
    const limits = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(stop ? [stop] : [])]);
    const result = await dockerCli(program, { workspace, env, stop: limits }).run(["ls"]);
    if (result.ok) return { status: "works", about: dockerWords(program).join(" "), program };
    const why = complaint(result);
    if (isSignedOut(why))
      return { status: "broken", why: notSignedIn(program), fix: PROGRAMS[program].signIn };
    problems.push(NO_SANDBOX.test(why) ? "this docker has no sandboxes" : `${program}: ${why}`);
  }
  if (problems.length === 0)
    return { status: "missing", why: "neither sbx nor docker is installed", fix: INSTALL };
  return { status: "broken", why: problems.join("; "), fix: INSTALL };
}
