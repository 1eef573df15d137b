import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AGENT_NAMES } from "../agents/index.js";
import type { RalphError } from "../errors.js";
import { which } from "../process/which.js";
import { SOMEBODY } from "../workspace/git.js";
import { type Engine, type FleetAddress, openEngine } from "./engine.js";
import { inBare, openRemote, push, type Remote, tipsOf, withRemote } from "./remote.js";
import { refusePassword } from "./submission.js";

/** One thing that a fleet needs. */
export interface FleetFinding {
  name: string;
  status: "ok" | "warning" | "problem";
  text: string;
}

type Condition = Omit<FleetFinding, "name">;

const ok = (text: string): Condition => ({ status: "ok", text });
const warning = (text: string): Condition => ({ status: "warning", text });
const problem = (text: string): Condition => ({ status: "problem", text });

const LEAST_BYTES = 2 * 1024 ** 3;

/** Looks at what a worker on this machine would need. Leaves nothing behind, on the remote neither. */
export async function examineFleet(
  address: FleetAddress,
  home: string,
  url: string | undefined,
): Promise<FleetFinding[]> {
  const engine = await openEngine(address).catch((error: RalphError) => {
    if (error.code === "fleet_unreachable") return error;
    throw error;
  });
  const looks: [name: string, look: () => Condition | Promise<Condition>][] = [
    ["engine", () => engineOf(engine)],
    ["clock", () => clockOf(engine)],
    ["disk", () => diskOf(home)],
    ["agents", agentsHere],
    [
      "remote",
      () => (url === undefined ? warning("no remote origin here: --repo URL names one") : remoteOf(url)),
    ],
  ];
  const findings: FleetFinding[] = [];
  for (const [name, look] of looks)
    findings.push({
      name,
      ...(await Promise.resolve(look()).catch((error: Error) => problem(error.message))),
    });
  if (!(engine instanceof Error)) await engine.close();
  return findings;
}

async function engineOf(engine: Engine | Error): Promise<Condition> {
  if (engine instanceof Error) throw engine;
  const { store, shown } = engine;
  const { name, isDurable } = await store.describe();
  if (isDurable) return ok(`${name} at ${shown}`);
  return warning(
    `${name} at ${shown} forgets jobs when it is killed: switch on appendonly (Redis) or fsync (PostgreSQL)`,
  );
}

/** The engine's clock decides about leases; in Redis, a job that is put off waits by the worker's. */
async function clockOf(engine: Engine | Error): Promise<Condition> {
  if (engine instanceof Error) return warning("not compared with the engine's");
  const { store, leaseMs } = engine;
  const before = Date.now();
  const { now } = await store.describe();
  const after = Date.now();
  const off = Math.round(Math.max(before - now, now - after, 0));
  if (off > leaseMs / 4)
    return problem(`it is ${off} ms away from the engine's, and a lease takes ${leaseMs} ms`);
  return ok(`within ${after - before + off} ms of the engine's`);
}

function diskOf(home: string): Condition {
  const { bavail, bsize } = statfsSync(home);
  const free = `${((bavail * bsize) / 1024 ** 3).toFixed(1)} GB free in ${home}`;
  return bavail * bsize < LEAST_BYTES
    ? warning(`${free}: mirrors, worktrees and records go there`)
    : ok(free);
}

function agentsHere(): Condition {
  const found = AGENT_NAMES.filter((name) => which(name, "/").status === "found");
  return found.length > 0
    ? ok(found.join(", "))
    : warning("none of the known agents is on PATH: a job must name its own");
}

/** Pushes as workers do, to a branch of its own that it takes away again. */
async function remoteOf(url: string): Promise<Condition> {
  refusePassword(url);
  const folder = mkdtempSync(join(tmpdir(), "ralph-fleet-"));
  try {
    const remote = await openRemote(folder, url, {});
    const ref = `refs/heads/ralph/doctor-${process.pid}-${Date.now()}`;
    const [first, second] = [await emptyCommit(remote), await emptyCommit(remote, "second")];
    try {
      const made = await push(remote, [{ ref, tip: "", to: first }]);
      if (made !== "pushed")
        return problem(`it takes no branch ralph/…: ${typeof made === "object" ? made.failure : made}`);
      // What a worker would push that has lost its lease, with a branch that is new: both must be refused.
      const late = [
        { ref, tip: "", to: second },
        { ref: `${ref}-lanes`, tip: "", to: second },
      ];
      if ((await push(remote, late)) !== "lost")
        return problem("it takes a push that expects another commit: two workers could write one branch");
      const [there, more] = await tipsOf(
        remote,
        late.map((move) => move.ref),
      );
      if (more !== "") return problem("it took one branch of a push with --atomic, and not the other");
      return there === first ? ok(`${url}: compare-and-swap and --atomic work`) : problem("it lost a push");
    } finally {
      for (const one of [ref, `${ref}-lanes`])
        await withRemote(remote, ["push", "--quiet", remote.url, `:${one}`], CLEAN_MS);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const CLEAN_MS = 60_000;

async function emptyCommit({ mirror }: Remote, text = "first"): Promise<string> {
  const tree = (await inBare(mirror, ["mktree"], { stdin: "" })).stdout.trim();
  return (
    await inBare(mirror, [...SOMEBODY, "commit-tree", tree, "-m", `ralph fleet doctor: ${text}`])
  ).stdout.trim();
}
