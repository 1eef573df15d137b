// The real agents that `npm run test:agents` proves ralph with: which there are, and how each is installed.
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

/**
 * By name: package, exact version, and the script of the package that has to run once it is there. `older`: what
 * npm installs on Node 20, proven in the sandbox alone.
 */
export const AGENTS = JSON.parse(
  readFileSync(new URL("../test/real-agents/versions.json", import.meta.url), "utf8"),
);

/** The agents that were asked for, in the order of the list; all of them where none is named. */
export function chosenAgents(words) {
  const unknown = words.find((word) => !Object.hasOwn(AGENTS, word));
  if (unknown !== undefined) {
    throw new Error(`there is no agent ${unknown} here: ${Object.keys(AGENTS).join(", ")}`);
  }
  return Object.keys(AGENTS).filter((name) => words.length === 0 || words.includes(name));
}

/** Outside of the repository, so that `npm ci` and a second checkout leave it alone. */
export function cacheFolder({ XDG_CACHE_HOME, HOME = homedir() } = process.env) {
  return join(XDG_CACHE_HOME || join(HOME, ".cache"), "ralph-test-agents");
}

/** Its program. Installs it where this version is not there yet; throws where it cannot be had or does not run. */
export async function installedAgent(
  name,
  { folder = cacheFolder(), release: version = AGENTS[name].version } = {},
) {
  const place = join(folder, `${name}-${version}`);
  const program = join(place, "node_modules", ".bin", name);
  if (!existsSync(place)) await install(name, version, place);
  // Some write into the home folder at once, and yours is none of their business.
  const said = await run(program, ["--version"], place, { PATH: process.env.PATH, HOME: place });
  if (!said.includes(version)) throw new Error(`${program} says that it is ${said.trim()}, not ${version}`);
  return program;
}

/** Beside its place first: one that was cut off is never taken for a whole one. */
async function install(name, version, place) {
  const { package: packageName, afterInstall } = AGENTS[name];
  mkdirSync(dirname(place), { recursive: true });
  const beside = mkdtempSync(`${place}.part-`);
  try {
    await run("npm", ["install", "--prefix", beside, ...NPM_FLAGS, `${packageName}@${version}`], beside);
    if (afterInstall !== undefined) {
      await run(process.execPath, [afterInstall], join(beside, "node_modules", packageName));
    }
    moveTo(beside, place);
  } finally {
    rmSync(beside, { recursive: true, force: true });
  }
}

/** Scripts of packages do not run by themselves: of those that come along none is needed. */
const NPM_FLAGS = [
  "--ignore-scripts",
  "--engine-strict=false",
  "--no-audit",
  "--no-fund",
  "--no-package-lock",
  "--loglevel=error",
];

function moveTo(from, to) {
  try {
    renameSync(from, to);
  } catch (error) {
    // Somebody else has installed the same meanwhile.
    if (!existsSync(to)) throw error;
  }
}

const MAX_MS = 300_000;

async function run(file, args, cwd, env = process.env) {
  try {
    const running = promisify(execFile)(file, args, { cwd, env, timeout: MAX_MS });
    running.child.stdin?.end();
    return (await running).stdout;
  } catch ({ message, stderr = "" }) {
    throw new Error(`${[file, ...args].join(" ")}: ${firstLines(stderr) || message}`);
  }
}

function firstLines(text) {
  return text.trim().split("\n").slice(0, 3).join(" ");
}
