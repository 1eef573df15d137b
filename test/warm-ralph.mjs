// ralph in a process that lives on from command to command: most of what a short command costs is loading it.
// A message names the arguments, the environment and the folder; a mark ends what the command wrote.
import { setTimeout } from "node:timers/promises";

const CLI = new URL("../dist/cli/program.js", import.meta.url);
let count = 0;
// Commands listen to them until their process ends, and here it does not.
for (const heard of [process, process.stdin, process.stdout, process.stderr]) heard.setMaxListeners(0);

process.on("message", async ({ args, env, cwd, mark }) => {
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.argv = [...process.argv.slice(0, 2), ...args];
  const before = lasting();
  // With another address it is another module, and runs again; what it imports is there already.
  const code = await (await import(`${CLI}?${++count}`)).runCommand();
  // What a command has not waited for ends with its process.
  if (!(await isSettled(before))) process.exit(code);
  process.chdir("/");
  process.stdout.write(mark);
  process.stderr.write(mark);
  process.send(code);
});

/** A process that was ended is gone a moment later. */
async function isSettled(before) {
  for (const end = performance.now() + 250; performance.now() < end; await setTimeout(5))
    if (lasting() <= before) return true;
  return false;
}

/** Processes, pipes and timers; a file that is being closed is no more than a moment. */
function lasting() {
  return process.getActiveResourcesInfo().filter((name) => !name.includes("Req")).length;
}
