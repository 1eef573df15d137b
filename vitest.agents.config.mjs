import { defineConfig } from "vitest/config";

/** Which agents there are, and their programs: `scripts/test-agents.mjs` installs them and says so. */
const programs = JSON.parse(process.env.REAL_AGENTS ?? "{}");
const oxc = { include: /\.c?tsx?$/ };

export default defineConfig({
  test: {
    projects: Object.entries(programs).map(([name, program]) => ({
      oxc,
      test: {
        name,
        include: ["test/real-agents/**/*.proof.ts"],
        testTimeout: 60_000,
        hookTimeout: 60_000,
        env: { GIT_CONFIG_GLOBAL: "/dev/null", REAL_AGENT: name, REAL_AGENT_PROGRAM: program },
        maxWorkers: 4,
      },
    })),
  },
});
