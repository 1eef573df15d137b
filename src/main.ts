/** Answers every command that `start.cts` has not answered, and returns its exit code. */
export async function start(): Promise<number> {
  const [first, ...rest] = process.argv.slice(2);
  // `ralph ls | true` has nothing to complain about, and `ralph run | head` must not end the run.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", () => {});
    if (stream.isTTY) giveWidth(stream);
  }
  if (first === "work" && rest.length === 1 && !(await becomeWorker(rest[0] as string))) return 2;
  return (await import("./cli/program.js")).runCommand();
}

/** A terminal that does not know its width says 0. */
function giveWidth(stream: NodeJS.WriteStream): void {
  const mend = (): void => {
    stream.columns ||= 80;
  };
  mend();
  stream.on("resize", mend);
}

/** Makes this process the command that its window asks for. false: there is no window. */
async function becomeWorker(socket: string): Promise<boolean> {
  const { takeAssignment } = await import("./workers/files.js");
  try {
    process.argv.splice(2, process.argv.length, ...(await takeAssignment(socket)));
    return true;
  } catch (error) {
    process.stderr.write(
      `ralph: error: ralph work is for windows that ralph opens: ${(error as Error).message}\n`,
    );
    return false;
  }
}
