import { version } from "./version.js";

/** The entry. What has to be quick is answered before the command line parser is loaded. */
const [first, ...rest] = process.argv.slice(2);
// `ralph --version | true` has nothing to complain about.
process.stdout.on("error", () => {});
if ((first === "--version" || first === "-v") && rest.length === 0) process.stdout.write(`${version()}\n`);
else await import("./cli.js");
