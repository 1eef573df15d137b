import { version } from "./version.js";

/** The entry. What has to be quick is answered before the command line parser is loaded. */
const [first, ...rest] = process.argv.slice(2);
// `ralph --version | true` has nothing to complain about.
process.stdout.on("error", () => {});
if ((first === "--version" || first === "-v") && rest.length === 0) process.stdout.write(`${version()}\n`);
else {
  if (first === "work" && rest.length === 1) await becomeWorker(rest[0] as string);
  await import("./cli.js");
}

/** From here on this process is the command that whoever opened its window wants it to be. */
async function becomeWorker(socket: string): Promise<void> {
  const { takeAssignment } = await import("./workers/assignment.js");
  try {
    process.argv.splice(2, process.argv.length, ...(await takeAssignment(socket)));
  } catch (error) {
    // `ralph work` is for windows that ralph opens; the command line says the rest.
    process.stderr.write(`ralph: error: ${(error as Error).message}\n`);
  }
}
