import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { RalphError } from "../../errors.js";
import { inPackage } from "../../package-folder.cjs";
import { git } from "../../workspace/git.js";

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

const PACKAGE = { name: "cart", private: true, type: "module", scripts: { test: "node test.js" } };

const FILES: Record<string, string> = {
  "package.json": `${JSON.stringify(PACKAGE, null, 2)}\n`,
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

/** What the user's own configuration would ask of a commit does not concern a demo. */
const ENVIRONMENT = {
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "ralph demo",
  GIT_AUTHOR_EMAIL: "demo@example.invalid",
  GIT_COMMITTER_NAME: "ralph demo",
  GIT_COMMITTER_EMAIL: "demo@example.invalid",
};

export async function createDemoProject(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(FILES)) writeFileSync(join(folder, name), content);
  const steps = [
    ["init", "--quiet"],
    ["add", "."],
    ["commit", "--quiet", "--message", "A cart"],
  ];
  for (const args of steps) {
    const { ok, stderr, spawnError } = await git(folder, args, { env: ENVIRONMENT });
    if (ok) continue;
    if (spawnError !== undefined)
      throw new RalphError("ralph demo needs git on PATH", { code: "git_missing" });
    throw new RalphError(`git ${args[0]} failed: ${stderr.trim()}`, { code: "git_failed" });
  }
}

/**
 * The scripted agent as a program. It is called claude because it speaks the stream of Claude Code, and an
 * agent is known by its name.
 */
export const DEMO_AGENT = inPackage("demo/claude");
