import { defineConfig } from "vitest/config";

/** `npm run test:faults`: what the ordinary tests hold a sample of. */
export default defineConfig({
  oxc: { include: /\.c?tsx?$/ },
  test: {
    include: ["test/faults/*.faults.ts"],
    env: { GIT_CONFIG_GLOBAL: "/dev/null" },
    testTimeout: 900_000,
    setupFiles: ["test/clean-up.ts"],
    hookTimeout: 60_000,
    fileParallelism: false,
  },
});
