import { defineConfig } from "vitest/config";
import { leftOutSuites } from "./scripts/test-needs.mjs";

/** They watch processes, signals and clocks closely: one at a time, with the machine to themselves. */
const ALONE = [
  "test/ask/**/*.test.ts",
  "test/browser/**/*.test.ts",
  "test/commands/disk.test.ts",
  "test/commands/limits.test.ts",
  "test/process/**/*.test.ts",
  "test/state/journal.test.ts",
  "test/state/lock.test.ts",
];

const leftOut = leftOutSuites();
/** Without it, sources that become CommonJS are not read as TypeScript. */
const oxc = { include: /\.c?tsx?$/ };
const shared = { testTimeout: 60_000, hookTimeout: 60_000 };

export default defineConfig({
  test: {
    projects: [
      {
        oxc,
        test: {
          ...shared,
          name: "together",
          include: ["test/**/*.test.ts"],
          exclude: [...ALONE, ...leftOut],
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        oxc,
        test: {
          ...shared,
          name: "alone",
          include: ALONE,
          exclude: leftOut,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
