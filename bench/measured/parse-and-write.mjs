// What a run is compared with: starts the same program, parses each line and writes it once.
import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";

const [input, output] = process.argv.slice(2);
const child = spawn("cat", [input], { stdio: ["ignore", "pipe", "inherit"] });
const file = createWriteStream(output);
let rest = "";
child.stdout.setEncoding("utf8");
child.stdout.on("data", (text) => {
  const lines = (rest + text).split("\n");
  rest = lines.pop();
  for (const line of lines) JSON.parse(line);
  if (file.write(`${lines.join("\n")}\n`)) return;
  child.stdout.pause();
  file.once("drain", () => child.stdout.resume());
});
child.on("close", () => file.end());
