import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import type { LoopEvent } from "../../src/events.js";
import { atEnd, createProject, eventually, type Project, type Started, temporaryFolder } from "../kit.js";

/** An engine of the test's own, on a port of the loopback. */
export interface TestEngine {
  url: string;
  pid(): number;
  /** As after a power cut, or to come back after one. */
  kill(): Promise<void>;
  start(): Promise<void>;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}

async function engineOf(
  url: string,
  run: () => [file: string, args: string[]],
  isUp: () => boolean,
): Promise<TestEngine> {
  let child: ReturnType<typeof spawn> | undefined;
  const start = async (): Promise<void> => {
    const [file, args] = run();
    child = spawn(file, args, { stdio: "ignore", detached: true });
    await eventually(isUp);
  };
  const kill = async (): Promise<void> => {
    const gone = new Promise((resolve) => child?.once("exit", resolve));
    // Of PostgreSQL the processes of its connections, too.
    process.kill(-(child?.pid as number), "SIGKILL");
    await gone;
  };
  await start();
  return { url, pid: () => child?.pid as number, kill, start };
}

const LOOPBACK = "127.0.0.1";

/** `others`: further addresses that it listens to. */
async function startRedis(folder: string, others: string[] = []): Promise<TestEngine> {
  const own = await freePort();
  mkdirSync(folder, { recursive: true });
  const network = ["--port", String(own), "--bind", LOOPBACK, ...others, "--protected-mode", "no"];
  const args = [...network, "--dir", folder, "--save", ""];
  return engineOf(
    `redis://127.0.0.1:${own}`,
    () => ["redis-server", [...args, "--appendonly", "yes", "--appendfsync", "always"]],
    () => spawnSync("redis-cli", ["-p", String(own), "ping"], { encoding: "utf8" }).stdout.trim() === "PONG",
  );
}

const VERSIONS = "/usr/lib/postgresql";

/** Where Debian has it, or PATH. */
function postgresProgram(name: string): string {
  const found = (existsSync(VERSIONS) ? readdirSync(VERSIONS) : []).map((version) =>
    join(VERSIONS, version, "bin", name),
  );
  return found.findLast((path) => existsSync(path)) ?? name;
}

/** PostgreSQL does not run as root. */
function asPostgres(file: string, args: string[]): [file: string, args: string[]] {
  if (process.getuid?.() !== 0) return [file, args];
  return ["setpriv", ["--reuid", "postgres", "--regid", "postgres", "--clear-groups", file, ...args]];
}

async function startPostgres(folder: string, others: string[] = []): Promise<TestEngine> {
  const port = await freePort();
  mkdirSync(folder, { recursive: true });
  if (process.getuid?.() === 0) {
    const id = (flag: string): number => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
    chownSync(folder, id("-u"), id("-g"));
  }
  const data = join(folder, "data");
  execFileSync(
    ...asPostgres(postgresProgram("initdb"), ["-D", data, "-A", "trust", "-U", "ralph", "--no-sync"]),
    {
      stdio: "ignore",
    },
  );
  for (const address of others)
    appendFileSync(join(data, "pg_hba.conf"), `host all all ${address}/24 trust\n`);
  const settings = [`listen_addresses=${[LOOPBACK, ...others].join()}`, `unix_socket_directories=${folder}`];
  const args = ["-D", data, "-p", String(port), ...settings.flatMap((setting) => ["-c", setting])];
  const ready = ["-h", "127.0.0.1", "-p", String(port), "-U", "ralph", "-q"];
  return engineOf(
    `postgres://ralph@127.0.0.1:${port}/postgres`,
    () => asPostgres(postgresProgram("postgres"), args),
    () => spawnSync(postgresProgram("pg_isready"), ready).status === 0,
  );
}

export const ENGINES = { redis: startRedis, postgres: startPostgres };

/** One engine for all tests of a suite. */
export function engineOfSuite(
  name: string,
  start: (folder: string) => Promise<TestEngine>,
): () => TestEngine {
  let engine: TestEngine;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), `ralph-${name}-`));
    engine = await start(folder);
  });
  afterAll(async () => {
    await engine.kill();
    rmSync(folder, { recursive: true, force: true });
  });
  return () => engine;
}

/** Counts its iterations in a file, writes who it is, and is done in the one that its task names. */
const AGENT = `#!/bin/bash
prompt=$(cat)
n=$(( $(cat n 2>/dev/null || echo 0) + 1 ))
echo $n > n
env > "$AGENT_LOG/env"
echo "$$ $RALPH_CLAIM $n" >> "$AGENT_LOG/calls"
printf '%s' "$prompt" > "$AGENT_LOG/prompt.$n"
if [ -f "$AGENT_LOG/hold" ]; then while [ -f "$AGENT_LOG/hold" ]; do sleep 0.05; done; fi
sleep "\${AGENT_SECONDS:-0}"
if [ -f "$AGENT_LOG/question" ] && ! grep -q "The answer is" <<< "$prompt"; then echo "<promise>BLOCKED: which one?</promise>"; exit 0; fi
echo "call $n"
echo COMPLETE
`;

export interface FleetProject extends Project {
  /** Where the agent writes what it saw; a file \`hold\` there keeps it at work. */
  log: string;
  /** The folder of the remote. */
  remote: string;
  worker(args?: string[], env?: NodeJS.ProcessEnv, through?: string[]): Started;
  fleet(...args: string[]): ReturnType<Project["ralph"]>;
  submit(...args: string[]): Promise<string>;
  /** A job that is done when its agent has counted so far. */
  count(times: number, ...args: string[]): Promise<string>;
}

/** In seconds, where a test waits for it to end: a worker on a busy machine must not lose it. */
export const SHORT_LEASE = 3;

/** With a lease that nobody loses by chance. */
export function fleetProject(
  url: string,
  more: { lease?: number; remote?(path: string): string; project?: Project } = {},
): FleetProject {
  const p = more.project ?? createProject();
  const log = temporaryFolder();
  const remote = join(p.root, "remote.git");
  Object.assign(p.env, { RALPH_FLEET: url, RALPH_FLEET_LEASE: String(more.lease ?? 30), AGENT_LOG: log });
  if (more.project === undefined) {
    p.program("agent", AGENT);
    p.settings({ agent: { command: "agent" }, sandbox: { kind: "none" } });
  }
  p.sh("git add --force .ralph/settings.json && git add . && git commit -qm settings");
  p.sh(`git init -q --bare -b main "${remote}" && git push -q "${remote}" main`);
  p.sh(`git remote add origin "${more.remote?.(remote) ?? remote}"`);
  const fleet = (...args: string[]) => p.ralph("fleet", ...args);
  const submit = async (...args: string[]): Promise<string> => {
    const { stdout, stderr } = await fleet("submit", ...args);
    if (!/^\d{8}-/.test(stdout)) throw new Error(`not submitted: ${stdout}${stderr}`);
    return stdout.trim();
  };
  return {
    ...p,
    log,
    remote,
    fleet,
    worker(args = [], env = {}, through = []) {
      const started = p.start(["fleet", "worker", ...args], { env, through });
      // Its watchdog ends what it has started.
      atEnd(() => started.child.kill("SIGKILL"));
      return started;
    },
    submit,
    count: (times, ...args) => submit("loop", "count", "--check", `test "$(cat n)" -ge ${times}`, ...args),
  };
}

/** The status of a job, as \`ralph fleet status --json\` tells it. */
export async function statusOf(p: FleetProject, id: string): Promise<Record<string, unknown>> {
  return JSON.parse((await p.fleet("status", id, "--json")).stdout) as Record<string, unknown>;
}

/** Looks at a job until its status is as it should be. */
export async function untilStatus(
  p: FleetProject,
  id: string,
  isMeant: (status: Record<string, unknown>) => boolean,
): Promise<Record<string, unknown>> {
  for (;;) {
    const status = await statusOf(p, id);
    if (isMeant(status)) return status;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

const ENDED = ["finished", "failed", "cancelled"];
export const untilEnded = (p: FleetProject, id: string) =>
  untilStatus(p, id, ({ status }) => ENDED.includes(String(status)));

/** What the run of a job has told so far. */
export async function eventsOf(p: FleetProject, id: string): Promise<LoopEvent[]> {
  const lines = (await p.fleet("logs", id, "--json")).stdout.split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line) as LoopEvent);
}

export function hold(p: FleetProject): () => void {
  const file = join(p.log, "hold");
  writeFileSync(file, "");
  return () => rmSync(file, { force: true });
}
