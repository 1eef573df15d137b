import { defineConfig } from "vitest/config";
import { BaseSequencer } from "vitest/node";
import { leftOutSuites } from "./scripts/test-needs.mjs";

/** What takes longest begins first, also where nothing is known of an earlier run: otherwise all wait for it at the end. */
const LONG = ["truth.test", "fleet/fleet", "docs.test", "browser/ui", "lanes/", "github/", "worktree.test"];
class LongestFirst extends BaseSequencer {
  async sort(files) {
    const place = ({ moduleId }) => (LONG.findIndex((name) => moduleId.includes(name)) + 99) % 99;
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other));
  }
}

// It makes every start of Node three times as slow, and the tests talk to nobody outside.
delete process.env.NODE_EXTRA_CA_CERTS;

export default defineConfig({
  // Without it, sources that become CommonJS are not read as TypeScript.
  oxc: { include: /\.c?tsx?$/ },
  test: {
    include: ["test/**/*.test.ts"],
    exclude: leftOutSuites(),
    // git and ralph use no name and no settings of the person who runs the tests.
    env: { GIT_CONFIG_GLOBAL: "/dev/null", RALPH_HOME: "/dev/null/ralph" },
    setupFiles: ["test/clean-up.ts"],
    // For what hangs: a busy machine takes its time.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // More than there are cores: most of the time tests wait for other processes.
    maxWorkers: 7,
    // They keep nothing that another one would find, and loading everything anew takes a third of their time.
    isolate: false,
    sequence: { sequencer: LongestFirst },
  },
});
