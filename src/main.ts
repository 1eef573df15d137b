import { version } from "./version.js";

/** The entry. What has to be quick is answered before the command line parser is loaded. */
const [first, ...rest] = process.argv.slice(2);
// `ralph --version | true` has nothing to complain about.
process.stdout.on("error", () => {});
if ((first === "--version" || first === "-v") && rest.length === 0) process.stdout.write(`${version()}\n`);
else if (first !== "work" || rest.length !== 1 || (await becomeWorker(rest[0] as string))) {
  await import("./cli.js");
}

/** From here on this process is the command that whoever opened its window wants it to be. false: nobody did. */
async function becomeWorker(socket: string): Promise<boolean> {
  const { takeAssignment } = await import("./workers/assignment.js");
  try {
    process.argv.splice(2, process.argv.length, ...(await takeAssignment(socket)));
    return true;
  } catch (error) {
    process.stderr.write(
      `ralph: error: ralph work is for windows that ralph opens: ${(error as Error).message}\n`,
    );
    process.exitCode = 2;
    return false;
  }
}
