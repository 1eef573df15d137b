// Runs for pictures and for looking at the dashboard: real loops with scripted agents that send the streams of the
// five real ones (test/fixtures). Everything is below one folder.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const ROOT = join(import.meta.dirname, "..");
const RALPH = join(ROOT, "bin/ralph.js");

const STREAMS = {
  claude: "claude/2.1.197/rich",
  codex: "codex/0.166/rich",
  amp: "amp/2026-03/basic",
  gemini: "gemini/0.61/basic",
  opencode: "opencode/1.18/basic",
};

const PARSER = `/** Splits a line of CSV into its fields. */
export function parseLine(line) {
  return line.split(",");
}
`;
const BETTER = `/** Splits a line of CSV into its fields; a quoted field keeps its commas. */
export function parseLine(line) {
  const fields = [];
  let field = "";
  let isQuoted = false;
  for (const sign of line) {
    if (sign === '"') isQuoted = !isQuoted;
    else if (sign === "," && !isQuoted) fields.push(field), (field = "");
    else field += sign;
  }
  return [...fields, field];
}
`;
const TEST = `import assert from "node:assert";
import test from "node:test";
import { parseLine } from "./parser.mjs";
test("plain fields", () => assert.deepEqual(parseLine("a,b"), ["a", "b"]));
test("quoted fields keep their commas", () => assert.deepEqual(parseLine('a,"b,c"'), ["a", "b,c"]));
`;

/** Projects, agents and a home below \`root\`. */
function sampleHome(root) {
  const home = join(root, "home");
  const bin = join(root, "bin");
  for (const folder of [home, bin]) mkdirSync(folder, { recursive: true });
  const env = {
    ...{ HOME: home, RALPH_HOME: join(home, ".ralph"), LANG: "C.UTF-8", IS_SANDBOX: "1", NO_COLOR: "1" },
    PATH: `${bin}:${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    ...{ GIT_AUTHOR_NAME: "Ada", GIT_AUTHOR_EMAIL: "ada@example.invalid" },
    ...{ GIT_COMMITTER_NAME: "Ada", GIT_COMMITTER_EMAIL: "ada@example.invalid", GIT_CONFIG_NOSYSTEM: "1" },
  };
  const project = (name) => {
    const dir = join(root, name);
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, "parser.mjs"), PARSER);
    writeFileSync(join(dir, "parser.test.mjs"), TEST);
    writeFileSync(join(dir, "README.md"), `# ${name}\n`);
    execFileSync("git", ["init", "-qb", "main"], { cwd: dir, env });
    execFileSync("git", ["add", "."], { cwd: dir, env });
    execFileSync("git", ["commit", "-qm", "A parser"], { cwd: dir, env });
    return dir;
  };
  return {
    env,
    project,
    /** What each call of an agent does, and what it says at its end; the last one again and again. */
    agent(name, steps, stream = STREAMS[name]) {
      const lines = readFileSync(join(ROOT, "test/fixtures", `${stream}.ndjson`), "utf8")
        .trim()
        .split("\n");
      const file = join(bin, name);
      writeFileSync(file, agentProgram({ lines, steps, calls: `${file}.calls`, name }));
      chmodSync(file, 0o755);
      rmSync(`${file}.calls`, { force: true });
    },
    run: (dir, ...args) => spawnSync(process.execPath, [RALPH, ...args], { cwd: dir, env, encoding: "utf8" }),
    start: (dir, ...args) =>
      spawn(process.execPath, [RALPH, ...args], { cwd: dir, env, stdio: ["ignore", "ignore", "ignore"] }),
    /** The only run that is called so. */
    async until(isThere) {
      while (!isThere()) await new Promise((resolve) => setTimeout(resolve, 50));
    },
    runs: () =>
      JSON.parse(spawnSync(process.execPath, [RALPH, "runs", "--json"], { env, encoding: "utf8" }).stdout),
  };
}

/** Replays the stream of the real agent around what its step does and says. */
function agentProgram(given) {
  return `#!${process.execPath}
const fs = require("node:fs");
const { execSync } = require("node:child_process");
const { lines, steps, calls, name } = ${JSON.stringify(given)};
if (process.argv.includes("--help") || process.argv.includes("--version")) { console.log(name + " 1.0"); process.exit(0); }
process.stdin.resume();
process.stdin.on("end", main);
function main() {
  const call = Number(fs.existsSync(calls) ? fs.readFileSync(calls, "utf8") : 0);
  fs.writeFileSync(calls, String(call + 1));
  const step = steps[Math.min(call, steps.length - 1)];
  const isLast = (line) => /"type":"(result|turn.completed|step_finish)"/.test(line);
  for (const line of lines.filter((line) => !isLast(line))) console.log(line);
  if (step.bash) execSync(step.bash, { stdio: "ignore" });
  if (step.say) for (const line of said(step)) console.log(JSON.stringify(line));
  if (step.hold) return setInterval(() => console.log(JSON.stringify(said({ say: "Still looking at the tests." })[0])), step.hold);
  for (const line of lines.filter(isLast)) console.log(step.say ? line.replace(/"result":"[^"]*"/, () => '"result":' + JSON.stringify(step.say)) : line);
}
function said({ say }) {
  const message = { role: "assistant", content: [{ type: "text", text: say }] };
  if (name === "codex") return [{ type: "item.completed", item: { id: "said", type: "agent_message", text: say } }];
  if (name === "gemini") return [{ type: "message", role: "assistant", content: say, delta: true }];
  if (name === "opencode") return [{ type: "text", part: { id: "p" + Date.now(), messageID: "said", type: "text", text: say } }];
  return [{ type: "assistant", message, parent_tool_use_id: null, session_id: "s" }];
}
`;
}

const writeFile = (path, text) => `cat > ${path} <<'END'\n${text}END`;
const CHECK = "node --test";
const LINT = "! grep -n 'TODO' parser.mjs";
const flags = ["--no-completion-tag", "--no-sandbox", "--quiet"];

/** One run of each kind that the dashboard tells apart. Returns the processes that still work. */
export async function sampleRuns(root) {
  const s = sampleHome(root);
  const [csv, shop, api] = ["csv-tools", "shop", "api"].map(s.project);
  s.agent("claude", [
    {
      bash: "echo '// TODO: quotes' >> parser.mjs",
      say: "I looked at the parser; quoted fields are split at their commas.",
    },
    {
      bash: writeFile("parser.mjs", `// TODO: tidy up\n${BETTER}`),
      say: "Quoted fields keep their commas now. All tests pass.",
    },
    { bash: writeFile("parser.mjs", BETTER), say: "Removed the note. Everything is done." },
  ]);
  s.run(
    csv,
    "loop",
    "Quoted fields of a CSV line keep their commas",
    "--check",
    CHECK,
    "--check",
    LINT,
    "--agent",
    "claude",
    "--worktree",
    "quoted-fields",
    "--name",
    "quoted-fields",
    "--max-cost",
    "5",
    ...flags,
  );
  s.agent("codex", [
    {
      say: "There are two ways to do this.\n<promise>DECIDE: Should a lone quote in a field be an error, or kept as it is? The tests say nothing about it.</promise>",
    },
  ]);
  s.run(
    shop,
    "loop",
    "Handle lone quotes",
    "--check",
    CHECK,
    "--agent",
    "codex",
    "--name",
    "lone-quotes",
    ...flags,
  );
  s.agent("gemini", [
    { bash: "echo '// try' >> parser.mjs", say: "I tried another way." },
    { bash: "echo '// try again' >> parser.mjs", say: "It still fails." },
  ]);
  s.run(
    shop,
    "loop",
    "Make the parser accept semicolons",
    "--check",
    CHECK,
    "--agent",
    "gemini",
    "--name",
    "semicolons",
    "-n",
    "3",
    "--stuck-after",
    "0",
    ...flags,
  );
  s.agent("opencode", [{ bash: writeFile("parser.mjs", BETTER), say: "Done." }]);
  s.run(
    api,
    "loop",
    "Fix the failing test",
    "--check",
    CHECK,
    "--agent",
    "opencode",
    "--name",
    "green-api",
    ...flags,
  );
  s.agent("amp", [{ say: "I could not find the cause." }]);
  execFileSync("git", ["checkout", "-q", "."], { cwd: api, env: s.env });
  s.run(
    api,
    "loop",
    "Find out why the test is slow",
    "--check",
    "false",
    "--agent",
    "amp",
    "--name",
    "slow-test",
    "-n",
    "5",
    ...flags,
  );
  s.agent("claude", [
    { bash: "echo '// step' >> parser.mjs", say: "A first step." },
    { say: "Reading the parser before I change it.", hold: 400 },
  ]);
  const living = s.start(
    csv,
    "loop",
    "Stream large files instead of reading them at once",
    "--check",
    CHECK,
    "--agent",
    "claude",
    "--name",
    "streaming",
    "--stuck-after",
    "0",
    ...flags,
  );
  await s.until(() => s.runs().some((run) => run.name === "streaming" && run.iterations === 1));
  return { ...s, living: [living], csv, shop, api };
}

if (process.argv[1] === import.meta.filename) {
  const root = process.argv[2] ?? "/tmp/ralph-samples";
  if (existsSync(root)) throw new Error(`${root} is there already`);
  const { env, runs } = await sampleRuns(root);
  console.log(`RALPH_HOME=${env.RALPH_HOME}`);
  for (const { name, result } of runs()) console.log(`${name}: ${result}`);
  process.exit(0);
}
