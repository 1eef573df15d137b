import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createProject, type Project } from "../kit.js";

const ROOT = join(import.meta.dirname, "../..");
const OFFLINE = ["--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts", "--silent"];
const MANIFEST = '{ "name": "mine", "type": "module", "private": true, "scripts": { "test": "test -f ok" } }';

let installed = "";

beforeAll(() => {
  installed = mkdtempSync(join(tmpdir(), "ralph-consumer-"));
  const npm = (args: string[], cwd: string): string => execFileSync("npm", args, { cwd, encoding: "utf8" });
  const packed = npm(["pack", "--silent", "--ignore-scripts", "--pack-destination", installed], ROOT);
  writeFileSync(join(installed, "package.json"), MANIFEST);
  npm(["install", ...OFFLINE, join(installed, packed.trim())], installed);
}, 120_000);

afterAll(() => rmSync(installed, { recursive: true, force: true }));

/** A project of somebody else that has installed the packed tarball. */
function consumer(): Project {
  const p = createProject();
  p.write("package.json", MANIFEST);
  p.write(".gitignore", "node_modules\n");
  symlinkSync(join(installed, "node_modules"), join(p.dir, "node_modules"));
  p.sh("git add . && git commit -qm mine");
  p.agent([
    { text: "not yet", cost: 0.01 },
    { bash: "touch ok", text: "Done.\n\nCOMPLETE", cost: 0.02 },
  ]);
  return p;
}

function node(p: Project, file: string): { code: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [file], {
    cwd: p.dir,
    env: p.env,
    encoding: "utf8",
    timeout: 60_000,
  });
  return { code: status, stdout, stderr };
}

const FUNCTION = `
import { writeFileSync } from "node:fs";
import { RalphLoop, RalphError } from "ralph-loop";

const agent = async (prompt, { iteration }) => {
  if (iteration === 2) writeFileSync("ok", "");
  return { finalOutput: "COMPLETE", cost: 0.25 };
};
const loop = new RalphLoop({ task: "t", checks: ["npm test"], maxIterations: 3 }, agent);
const { iterations, totalDuration, ...result } = await loop.run();
const wrong = await new RalphLoop({ task: "t", checks: ["true"], specFile: "nope" }, agent).run().catch((error) => error);
console.log(JSON.stringify({ result, isRalphError: wrong instanceof RalphError }));
`;

const MANY = `
import { mkdirSync } from "node:fs";
import { RalphLoop } from "ralph-loop";

const { signal } = new AbortController();
const checks = ["echo to stdout; echo to stderr >&2"];
const loops = Array.from({ length: 15 }, (_, number) => {
  mkdirSync(\`w\${number}\`);
  return new RalphLoop({ task: "t", checks, workspaceRoot: \`w\${number}\`, signal }, () => ({ finalOutput: "COMPLETE" }));
});
await Promise.all(loops.map((loop) => loop.run()));
if (process.cwd() !== import.meta.dirname) process.exitCode = 3;
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) if (process.listenerCount(name) > 0) process.exitCode = 4;
`;

const REQUIRE = `
const { RalphLoop, runLoop, RalphError } = require("ralph-loop");
console.log(typeof RalphLoop, typeof runLoop, typeof RalphError);
`;

test("a program that installs the package runs loops, quietly, and ends by itself", () => {
  const p = consumer();
  p.write("function.mjs", FUNCTION);
  p.write("many.mjs", MANY);
  p.write("require.cjs", REQUIRE);

  const run = node(p, "function.mjs");
  expect({ ...run, stdout: JSON.parse(run.stdout || "null") as unknown }).toEqual({
    code: 0,
    stderr: "",
    stdout: {
      result: {
        totalIterations: 2,
        totalCost: 0.5,
        success: true,
        stopReason: "all_checks_passed",
        worktreePath: "",
      },
      isRalphError: true,
    },
  });
  expect(node(p, "many.mjs")).toEqual({ code: 0, stdout: "", stderr: "" });
  expect(node(p, "require.cjs")).toMatchObject({ code: 0, stdout: "function function function\n" });
});

test("npx ralph-loop demo works from the packed tarball", () => {
  const { status, stdout } = spawnSync("npx", ["--no-install", "ralph-loop", "demo"], {
    cwd: installed,
    env: createProject().env,
    encoding: "utf8",
  });
  expect({ status, stdout }).toEqual({
    status: 0,
    stdout: expect.stringContaining("Iteration 3/") as string,
  });
});

/** The programs of the page, as they stand. */
function examples(language: string): string[] {
  const page = readFileSync(join(ROOT, "docs/reference/library.md"), "utf8");
  return [...page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, "g"))].map(
    ([, code]) => code ?? "",
  );
}

test("the examples of docs/reference/library.md work as they stand", () => {
  const p = consumer();
  const results = examples("js").map((code, number) => {
    p.sh(`rm -rf ok ${p.bin}/claude.calls .ralph`);
    p.write(`example-${number}.mjs`, code);
    return node(p, `example-${number}.mjs`);
  });
  const stdout = expect.stringContaining("all_checks_passed") as string;
  expect(results).toEqual([1, 2, 3].map(() => ({ code: 0, stdout, stderr: "" })));
});

const TYPES = `
import {
  type CheckOutcome,
  type FunctionAgent,
  type FunctionAnswer,
  type FunctionContext,
  type LoopEvent,
  type LoopIteration,
  type LoopSpec,
  type MoreLimits,
  type Outcome,
  type RalphConfig,
  RalphError,
  RalphLoop,
  type RalphLoopResult,
  runLoop,
  type StopReason,
} from "ralph-loop";

const agent: FunctionAgent = async (prompt: string, context: FunctionContext): Promise<FunctionAnswer> => ({
  finalOutput: prompt + String(context.iteration + context.workspace.length) + String(context.signal.aborted),
});
const limits: MoreLimits = { stuckAfter: 0, maxTokens: null };
const config: RalphConfig = { task: "t", checks: ["true"] as const, maxCost: undefined, limits };
const spec: LoopSpec = { ...config, agent: () => ({ finalOutput: "", cost: 1, steps: 2 }) };

export async function use(): Promise<StopReason> {
  const result: RalphLoopResult = await new RalphLoop(config, agent).run();
  const last: LoopIteration | undefined = result.iterations[0];
  const checks: CheckOutcome[] = last?.checkResults ?? [];
  const words: string[] = checks.map(({ name, output }) => name + output);
  try {
    const loop = runLoop(spec);
    let step = await loop.next();
    for (; !step.done; step = await loop.next()) {
      const event: LoopEvent = step.value;
      if (event.type === "check.finished") words.push(event.command);
    }
    const outcome: Outcome = step.value;
    return outcome.reason;
  } catch (error) {
    if (error instanceof RalphError) words.push(error.code, error.hint ?? "");
    return result.stopReason;
  }
}

// @ts-expect-error: checks are required
export const noChecks: LoopSpec = { task: "t" };
// @ts-expect-error: seconds, as a number
export const wrongTime: LoopSpec = { task: "t", checks: [], maxTime: "10m" };
// @ts-expect-error: a reason that does not exist
export const wrongReason: StopReason = "tired";
// @ts-expect-error: an answer has a final output
export const wrongAgent: FunctionAgent = () => ({ cost: 1 });
`;

test.each([
  ["NodeNext", "NodeNext"],
  ["ESNext", "Bundler"],
])("its types are whole and strict (module %s, resolution %s)", (module, moduleResolution) => {
  const p = consumer();
  p.write("types.ts", TYPES);
  const compilerOptions = {
    target: "ES2022",
    lib: ["ES2023"],
    module,
    moduleResolution,
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    verbatimModuleSyntax: true,
    // What the types refer to is the same for both.
    skipLibCheck: module === "ESNext",
    noEmit: true,
    typeRoots: [join(ROOT, "node_modules/@types")],
    types: ["node"],
  };
  p.write("tsconfig.json", JSON.stringify({ compilerOptions, files: ["types.ts"] }));
  const { status, stdout } = spawnSync(join(ROOT, "node_modules/.bin/tsc"), ["-p", "."], {
    cwd: p.dir,
    encoding: "utf8",
  });
  expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
});
