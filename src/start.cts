/**
 * The entry. What has to be quick is answered here, in CommonJS: agents call `ralph hook context` at every step, and
 * the loader of ES modules alone would take longer than all of that.
 */
const [first, name, ...rest] = process.argv.slice(2);
if (first === "hook" && name === "context" && rest.length === 0) void answerContext();
else if (first === "hook" && name === "pre-tool-use" && rest.length === 0) void answerGuard();
else if ((first === "--version" || first === "-v") && name === undefined) tellVersion();
else void answerCommand();

function tellVersion(): void {
  const { writeSync }: typeof import("node:fs") = require("node:fs");
  const { manifest }: typeof import("./package-folder.cjs") = require("./package-folder.cjs");
  try {
    writeSync(1, `${manifest().version}\n`);
  } catch {
    // `ralph --version | true` has nothing to complain about.
  }
}

async function answerCommand(): Promise<void> {
  const { loadCompiled }: typeof import("./hooks/compiled.cjs") = require("./hooks/compiled.cjs");
  // Commands that run loops load other parts than the rest, so that each kind keeps what it has compiled.
  const isLoop = ["run", "loop", "stories", "pipeline", "resume", "work"].includes(first ?? "");
  const kind = isLoop ? "loops" : "others";
  if (isLoop) keepMemorySmall();
  const { exports, keep } = loadCompiled<Main>(`${__dirname}/main.cjs`, `${MAIN_DIGEST}-${kind}`, __dirname);
  process.once("exit", () => keep());
  leave(await exports.start());
}

/**
 * A start of a process copies the page tables of this one, so a loop keeps its memory small: V8 collects garbage early
 * and optimizes only what runs for long. V8 rejects code that was compiled with other flags, so they are set first.
 */
function keepMemorySmall(): void {
  const { setFlagsFromString }: typeof import("node:v8") = require("node:v8");
  setFlagsFromString("--heap-growing-percent=10");
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString("--no-parallel-scavenge");
  setFlagsFromString("--interrupt-budget=1000000");
}

async function answerGuard(): Promise<void> {
  const { loadCompiled }: typeof import("./hooks/compiled.cjs") = require("./hooks/compiled.cjs");
  const { exports, keep } = loadCompiled<GuardCall>(
    `${__dirname}/hooks/guard-call.cjs`,
    GUARD_DIGEST,
    __dirname,
  );
  const isTaken = await exports.answerGuard();
  keep(exports.tryOut);
  if (isTaken) leave(0);
}

async function answerContext(): Promise<void> {
  const { answerHook }: typeof import("./hooks/answer.cjs") = require("./hooks/answer.cjs");
  const { context }: typeof import("./hooks/context.cjs") = require("./hooks/context.cjs");
  if (await answerHook("context", context)) leave(0);
}

/** Node would take its memory apart first, piece by piece. */
function leave(code: number): never {
  process.exit(code);
}

/** The build puts them in. */
declare const GUARD_DIGEST: string;
declare const MAIN_DIGEST: string;

type Main = typeof import("./main.js", { with: { "resolution-mode": "import" }});
type GuardCall = typeof import("./hooks/guard-call.js", { with: { "resolution-mode": "import" }});
