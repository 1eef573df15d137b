// Before the tests: installs what they need and this machine lacks, where that is allowed. What is still
// missing is named, with the suites that are left out; with CI set, that is a failure.
import { spawnSync } from "node:child_process";
import { isCi, missingNeeds, ROOT_ONLY } from "./test-needs.mjs";

const missing = missingNeeds();
if (missing.length > 0) install(missing.map((need) => need.package));

for (const { package: name, suites } of missingNeeds()) {
  console.error(`tests: ${name} is missing; left out: ${suites.join(", ")}`);
}
if (process.getuid?.() !== 0) console.error(`tests: not root; left out: ${ROOT_ONLY.join(", ")}`);
if (isCi(process.env) && missingNeeds().length > 0) {
  console.error("tests: with CI set, that is a failure");
  process.exitCode = 1;
}

function install(packages) {
  const apt = aptCommand();
  if (apt === undefined) return;
  console.error(`tests: installing ${packages.join(", ")}`);
  const options = {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  };
  const run = (...args) => spawnSync(apt[0], [...apt.slice(1), ...args], options).status === 0;
  run("update", "-qq");
  if (run("install", "-y", "-qq", "--no-install-recommends", ...packages)) return;
  // One that is not to be had must not hold up the others.
  for (const name of packages) run("install", "-y", "-qq", "--no-install-recommends", name);
}

/** Only as root, or where root can be had without a question. */
function aptCommand() {
  const works = (file, ...args) => spawnSync(file, args, { stdio: "ignore" }).status === 0;
  if (!works("apt-get", "--version")) return undefined;
  if (process.getuid?.() === 0) return ["apt-get"];
  return works("sudo", "-n", "true") ? ["sudo", "-n", "apt-get"] : undefined;
}
