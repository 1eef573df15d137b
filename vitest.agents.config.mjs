import { defineConfig } from "vitest/config";

/** Which agents there are, and their programs, that of an older release last: `scripts/test-agents.mjs` installs them and says so. */
const programs = JSON.parse(process.env.REAL_AGENTS ?? "{}");
/** Some of them take seconds to start, and more on a busy machine. */
const patience = { testTimeout: 180_000, hookTimeout: 60_000 };

/** Every agent goes through the same cases, at the same time as the others. */
export default defineConfig({
  test: {
    maxWorkers: 4,
    projects: Object.entries(programs).map(([name, [program, older]]) => ({
      oxc: { include: /\.c?tsx?$/ },
      test: {
        ...patience,
        name,
        include: ["test/real-agents/**/*.proof.ts"],
        setupFiles: ["test/clean-up.ts"],
        env: {
          GIT_CONFIG_GLOBAL: "/dev/null",
          REAL_AGENT: name,
          REAL_AGENT_PROGRAM: program,
          ...(older && { REAL_AGENT_OLDER_PROGRAM: older }),
        },
      },
    })),
  },
});
