import { createHash } from "node:crypto";
import { RalphError } from "../errors.js";
import { type Captured, capture } from "../process/capture.js";
import { withOuterPath } from "../process/outer-path.js";
import type { DockerProgram, SandboxPlace } from "./sandbox.js";

/** The words of a command of `docker sandbox`, or of its successor `sbx`, which knows the same ones. */
export function dockerWords(program: DockerProgram, ...words: string[]): string[] {
  return program === "docker" ? ["docker", "sandbox", ...words] : ["sbx", ...words];
}

/** The folder's path, as far as a name can say it; sbx knows no underscores. */
export function sandboxName(program: DockerProgram, workspace: string): string {
  const plain = `ralph-${workspace.replace(/[^A-Za-z0-9._-]/g, "_")}`;
  const name = program === "docker" ? plain : plain.replaceAll("_", "-").replace(/-+/g, "-");
  return PLAIN[program].test(workspace) ? name : `${name}-${shortDigest(workspace)}`;
}

/** Paths of which no two have the same name. */
const PLAIN = { docker: /^[A-Za-z0-9./-]*$/, sbx: /^[A-Za-z0-9./]*$/ };

function shortDigest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}

/** With sbx what is denied stays denied, so that the sandbox that reaches no host is one of its own. */
export function nameFor(program: DockerProgram, workspace: string, hosts: string[]): string {
  const name = sandboxName(program, workspace);
  return program === "sbx" && hosts.length === 0 ? `${name}-offline` : name;
}

/** What tells the program to let these hosts be reached, and where it can, no others. */
export function networkPolicy(program: DockerProgram, name: string, hosts: string[]): string[] {
  if (program === "sbx" && hosts.length === 0) return ["policy", "deny", "network", "--sandbox", name, "**"];
  if (program === "sbx") return ["policy", "allow", "network", "--sandbox", name, hosts.join(",")];
  return ["network", "proxy", name, "--policy", "deny", ...hosts.flatMap((host) => ["--allow-host", host])];
}

/** The name as a word of its own: one project can be called like the beginning of another. */
export function isListed(listing: string, name: string): boolean {
  return listing.split("\n").some((line) => line.trim().split(/\s+/).includes(name));
}

export type Run = (words: string[], stdin?: string) => Promise<Captured>;

/** Creating one may have to fetch an image. */
const TIMEOUT_MS = 15 * 60_000;

export function dockerRunner(
  program: DockerProgram,
  place: Pick<SandboxPlace, "workspace" | "env" | "stop">,
): Run {
  const { workspace: cwd, stop } = place;
  const env = withOuterPath(place.env, cwd);
  return (words, stdin) => {
    const [file = "", ...args] = dockerWords(program, ...words);
    return capture(
      { file, args, cwd, env, ...(stdin !== undefined && { stdin }) },
      { timeoutMs: TIMEOUT_MS, stop },
    );
  };
}

/** The same, and a failure is one of the run. */
export async function insist(
  run: Run,
  program: DockerProgram,
  words: string[],
  stdin?: string,
): Promise<string> {
  const result = await run(words, stdin);
  if (result.ok) return result.stdout;
  throw failed(program, words, result);
}

function failed(program: DockerProgram, words: string[], result: Captured): RalphError {
  const command = dockerWords(program, ...words.slice(0, 1)).join(" ");
  const said = complaint(result);
  if (isSignedOut(said)) return notSignedIn(program);
  return new RalphError(`${command} failed: ${said}`, {
    code: "sandbox_failed",
    hint: "--no-sandbox goes without it",
  });
}

export function notSignedIn(program: DockerProgram): RalphError {
  return new RalphError(`${program} is not logged in to Docker`, {
    code: "sandbox_not_logged_in",
    hint: program === "sbx" ? "sbx login" : "docker login, or sign in to Docker Desktop",
  });
}

/** What Docker says when nobody is signed in. */
export function isSignedOut(said: string): boolean {
  return /not (signed|logged) in|no valid user session|sign in to docker|session (has )?expired|401 unauthorized|not authenticated/i.test(
    said,
  );
}

/** The first line of what went wrong. */
export function complaint({ stderr, stdout, spawnError, exitCode, timedOut }: Captured): string {
  if (spawnError !== undefined) return spawnError.message;
  if (timedOut) return "it did not answer in time";
  const lines = `${stderr}\n${stdout}`.split("\n").map((line) => line.trim());
  return (
    lines.find((line) => isSignedOut(line)) ?? lines.find((line) => line !== "") ?? `exit code ${exitCode}`
  );
}
