import { defineConfig } from "vitest/config";
import { leftOutSuites } from "./scripts/test-needs.mjs";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: leftOutSuites(),
    // Tests start processes, watch them and kill them: one file at a time keeps what they see stable.
    fileParallelism: false,
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
