// Loaded before ralph (NODE_OPTIONS=--require): ends it with SIGKILL at one event of its journal, exactly.
// KILL_AT is "LINE SIDE" or "TYPE SIDE": before the line is written, when half of it is, or after it.
const fs = require("node:fs");
const { syncBuiltinESMExports } = require("node:module");

// `ralph spawn` starts the loop with the Node that it runs on itself, in a window without its environment.
process.execPath = process.env.NODE_OF_WINDOWS ?? process.execPath;

const [line, side] = (process.env.KILL_AT ?? "0 never").split(" ");
const { openSync, writeSync } = fs;
let journal;
let lines = 0;

fs.openSync = (path, flags, ...more) => {
  const file = openSync(path, flags, ...more);
  if (flags === "a" && String(path).endsWith("/journal.ndjson")) journal = file;
  return file;
};

fs.writeSync = (file, data, ...more) => {
  if (file !== journal || !Buffer.isBuffer(data)) return writeSync(file, data, ...more);
  const [offset = 0] = more;
  const end = endOfLines(data, offset);
  if (end === undefined) return writeSync(file, data, ...more);
  for (let at = offset; at < end; ) at += writeSync(file, data, at, end - at);
  process.kill(process.pid, "SIGKILL");
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
};
syncBuiltinESMExports();

/** Where to stop in what is about to be written; undefined: the line is not in it. */
function endOfLines(data, offset) {
  for (let start = offset; start < data.length; ) {
    const end = data.indexOf("\n", start) + 1;
    lines += 1;
    const isIt =
      lines === Number(line) || data.toString("utf8", start, end).startsWith(`{"v":1,"type":"${line}"`);
    if (isIt) return { before: start, torn: (start + end) >> 1, after: end }[side];
    start = end;
  }
  return undefined;
}
