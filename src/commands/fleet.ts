import { hostname } from "node:os";
import { join } from "node:path";
import { examineFleet } from "../fleet/doctor.js";
import { fleetAddress } from "../fleet/engine.js";
import { submitJob, withEngine } from "../fleet/jobs.js";
import { checkTag, jobFor, type SubmitFlags } from "../fleet/submission.js";
import { work } from "../fleet/worker.js";
import { makePrivateFolder } from "../records/files.js";
import { writableHome } from "../records/home.js";
import { handleSignals } from "../run/signals.js";
import { requestFrom } from "../run/spec.js";
import { dollars, saysSomething, wholeNumber } from "../settings/limits.js";
import { loadSettings } from "../settings/load.js";
import { harmlessLine } from "../views/harmless.js";
import { git } from "../workspace/git.js";
import { formatterFor, note, type OutputFlags, printAs, say, warn } from "./output.js";
import type { Elsewhere } from "./start-run.js";

/** `ralph fleet`: runs on other machines. What is done with jobs stands in `fleet-jobs.ts`. */

/** `ralph fleet submit RECIPE …`: what the recipe has made of its flags becomes a job. */
export const submit: Elsewhere = async (flags, loaded, { warnings = [], notes = [], ...start }) => {
  const address = fleetAddress(loaded.settings, process.env);
  const job = await jobFor(requestFrom(flags, start), flags as SubmitFlags, loaded.settings);
  await withEngine(address, (engine) => submitJob(engine, job));
  warnings.forEach(warn);
  notes.forEach(note);
  note(`${job.name} waits for a worker; its work comes to ${job.branch} of ${job.remote}`);
  return say(job.id);
};

/** Where a worker keeps its mirrors and its claims. */
function workerHome(): string {
  const home = join(writableHome(), "fleet");
  makePrivateFolder(home);
  return home;
}

interface FleetWorkerFlags {
  slots?: string;
  tag?: string[];
  name?: string;
  maxCost?: string;
}

/** What a worker needs for the remotes and for the engine, and agents and checks must not have. */
const OWN_VARIABLES =
  /^(RALPH_FLEET.*|GIT_ASKPASS|SSH_ASKPASS|SSH_AUTH_SOCK|GIT_SSH|GIT_SSH_COMMAND|GIT_CONFIG_(COUNT|KEY_\d+|VALUE_\d+|PARAMETERS)|G(ITHUB|H)(_ENTERPRISE)?_TOKEN|GITLAB_TOKEN)$/;

/** `ralph fleet worker`: takes jobs until it has to leave. */
export async function worker({
  slots = "1",
  tag: tags = [],
  name = hostname(),
  maxCost,
}: FleetWorkerFlags): Promise<number> {
  const count = wholeNumber("--slots", slots, 1);
  const cost = maxCost === undefined ? undefined : dollars("--max-cost", maxCost);
  for (const tag of tags) checkTag(tag);
  saysSomething("--name", name);
  const { settings } = await loadSettings(process.cwd());
  const address = fleetAddress(settings, process.env);
  const home = workerHome();
  const own = Object.keys(process.env).filter((variable) => OWN_VARIABLES.test(variable));
  const credentials = Object.fromEntries(own.map((variable) => [variable, process.env[variable]]));
  for (const variable of own) delete process.env[variable];
  for (const variable of own.filter((one) => one.startsWith("RALPH_"))) delete credentials[variable];
  const { signals, release } = handleSignals(() => {
    note("finishing the current iterations, then returning the jobs; a second signal returns them now");
  });
  const options = { name: `${name}-${process.pid}`, slots: count, tags, maxCost: cost, home, credentials };
  try {
    await withEngine(
      address,
      async (engine) => {
        note(`worker ${options.name} takes jobs from ${engine.shown} (${count} at a time)`);
        await work(engine, { ...options, drain: signals.stop, leave: signals.kill, say: note });
      },
      { lasting: true },
    );
  } finally {
    release();
  }
  return 0;
}

/** `ralph fleet doctor`: what a worker on this machine would need. Exit 1 where something would fail. */
export async function doctor(flags: OutputFlags & { repo?: string }): Promise<number> {
  const { stdout } = await git(process.cwd(), ["remote", "get-url", "origin"]);
  const url = flags.repo ?? (stdout.trim() || undefined);
  const { settings } = await loadSettings(process.cwd());
  const findings = await examineFleet(fleetAddress(settings, process.env), workerHome(), url);
  const isBad = findings.some(({ status }) => status === "problem");
  const { mark } = formatterFor(flags);
  const marks = { ok: mark.pass, warning: mark.warning, problem: mark.fail };
  const lines = (): string[] =>
    findings.map(({ name, status, text }) => harmlessLine(`${marks[status]} ${name}: ${text}`));
  return printAs(flags, findings, lines, isBad ? 1 : 0);
}

const OWN_PORT = "7172";

/** `ralph fleet up`: a PostgreSQL of ralph's own, until Ctrl+C. Prints its address. */
export async function up({
  port = OWN_PORT,
  host = "127.0.0.1",
}: {
  port?: string;
  host?: string;
}): Promise<number> {
  const { startOwnEngine } = await import("../fleet/up.js");
  const number = wholeNumber("--port", port, 1, HIGHEST_PORT);
  const ended = new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => resolve());
  });
  const own = await startOwnEngine(workerHome(), { host, port: number });
  say(own.url);
  note(
    "the address contains the password: set it as RALPH_FLEET where you submit jobs and on the workers; Ctrl+C stops the server",
  );
  await ended;
  await own.stop();
  return 0;
}

const HIGHEST_PORT = 65_535;
