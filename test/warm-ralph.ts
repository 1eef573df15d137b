import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

interface Call {
  args: string[];
  env: NodeJS.ProcessEnv;
  cwd: string;
}

let warm: ChildProcess | undefined;
let isBusy = false;
process.once("exit", () => warm?.kill("SIGKILL"));

/** Answered by files of their own before the command line is read, or at home in a window. */
const COLD = ["--version", "-v", "hook", "work"];

/** One command at a time; undefined when that is not to be had, or with RALPH_TEST_COLD set. */
export async function runWarm(call: Call): Promise<Ended | undefined> {
  if (process.env["RALPH_TEST_COLD"] !== undefined || isBusy || COLD.includes(call.args[0] ?? "--version"))
    return undefined;
  isBusy = true;
  try {
    warm ??= start();
    return await answer(warm, call);
  } finally {
    isBusy = false;
  }
}

function start(): ChildProcess {
  const child = fork(join(import.meta.dirname, "warm-ralph.mjs"), { silent: true, execArgv: [] });
  child.once("exit", forget);
  child.stdin?.end();
  return child;
}

async function answer(child: ChildProcess, call: Call): Promise<Ended> {
  const mark = `\0${process.hrtime.bigint()}\0`;
  const code = new Promise<number | null>((resolve) => {
    child.once("message", (given) => resolve(given as number)).once("exit", resolve);
  });
  const outputs = Promise.all([until(mark, child.stdout), until(mark, child.stderr)]);
  child.send({ ...call, mark });
  const [stdout, stderr] = await outputs;
  const ended = { code: await code, stdout, stderr };
  child.removeAllListeners("message").removeAllListeners("exit").once("exit", forget);
  return ended;
}

/** What comes before the mark, or before the end. */
function until(mark: string, stream: NodeJS.ReadableStream | null): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    const finish = (): void => {
      stream?.removeListener("data", take).removeListener("end", finish);
      resolve(text.split(mark, 1)[0] ?? "");
    };
    const take = (more: string): void => {
      text += more;
      if (text.includes(mark, text.length - more.length - mark.length)) finish();
    };
    stream?.setEncoding("utf8").on("data", take).once("end", finish);
  });
}

function forget(): void {
  warm = undefined;
}
