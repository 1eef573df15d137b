import { version } from "./version.js";

/** The entry. What has to be quick is answered before the command line parser is loaded. */
const [first, ...rest] = process.argv.slice(2);
// `ralph --version | true` has nothing to complain about.
process.stdout.on("error", () => {});
if ((first === "--version" || first === "-v") && rest.length === 0) process.stdout.write(`${version()}\n`);
else if (first === "hook") await callHook(rest);
else await import("./cli.js");

/** Agents call hooks at every step. What is unusual, such as --help, is for the command line parser. */
async function callHook(words: string[]): Promise<void> {
  const { hook, usualCall } = await import("./commands/hook.js");
  const call = usualCall(words);
  if (call === undefined) await import("./cli.js");
  else process.exitCode = await hook(call.name, call);
}
