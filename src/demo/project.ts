import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { RalphError } from "../errors.js";
import { git } from "../workspace/git.js";

/** The mistakes in it are what the demo is about. */
export const CART = {
  path: "cart.js",
  /** Both lines are wrong: the quantity is left out, and a percentage is not a share. */
  sum: {
    wrong: "  const sum = items.reduce((cents, item) => cents + item.price, 0);",
    right: "  const sum = items.reduce((cents, item) => cents + item.price * item.quantity, 0);",
  },
  discount: {
    wrong: "  return sum - sum * discount;",
    right: "  return Math.round(sum - (sum * discount) / 100);",
  },
};

const FILES: Record<string, string> = {
  "package.json": `${JSON.stringify({ name: "cart", private: true, type: "module", scripts: { test: "node test.js" } }, null, 2)}\n`,
  [CART.path]: `/** What the items cost in cents; \`discount\` is in percent. */
export function total(items, discount = 0) {
${CART.sum.wrong}
${CART.discount.wrong}
}
`,
  "test.js": `import { total } from "./cart.js";

const items = [
  { price: 250, quantity: 2 },
  { price: 399, quantity: 1 },
];
const cases = [
  ["quantities count", total(items), 899],
  ["a discount is in percent", total(items, 20), 719],
];

for (const [name, got, expected] of cases) {
  const passed = got === expected;
  console.log(passed ? \`ok      \${name}\` : \`FAILED  \${name}: expected \${expected}, got \${got}\`);
  if (!passed) process.exitCode = 1;
}
`,
};

const IDENTITY = ["-c", "user.name=ralph demo", "-c", "user.email=demo@example.invalid"];
/** What the user's own configuration would ask of a commit does not concern a demo. */
const PLAIN = ["-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null"];

/** A small git project whose tests fail. */
export async function createDemoProject(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(FILES)) writeFileSync(join(folder, name), content);
  const steps = [
    ["init", "--quiet"],
    ["add", "."],
    [...IDENTITY, ...PLAIN, "commit", "--quiet", "--message", "A cart"],
  ];
  for (const args of steps) {
    const { ok, stderr, spawnError } = await git(folder, args);
    if (ok) continue;
    throw new RalphError(`git ${args.at(-1)} failed: ${spawnError?.message ?? stderr.trim()}`, {
      code: "git_failed",
      hint: "ralph demo needs git on PATH",
    });
  }
}

/**
 * The scripted agent as a program. It is called claude because it speaks the stream of Claude Code, and an
 * agent is known by its name.
 */
export function installDemoAgent(folder: string): string {
  const file = join(folder, "claude");
  const script = fileURLToPath(new URL("agent.js", import.meta.url));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\nexec ${quoted(process.execPath)} ${quoted(script)} "$@"\n`);
  chmodSync(file, 0o755);
  return file;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
