import { defineConfig } from "vitest/config";
import { BaseSequencer } from "vitest/node";
import { leftOutSuites } from "./scripts/test-needs.mjs";

/** They watch processes, signals and clocks closely: one at a time, with the machine to themselves. */
const ALONE = [
  "test/ask/**/*.test.ts",
  "test/process/**/*.test.ts",
  "test/records/journal.test.ts",
  "test/records/lock.test.ts",
];

/** They load programs of their own; each file gets a process that holds nothing of another one. */
const WAITING = [
  "test/commands/{failures,limits}.test.ts",
  "test/{browser,workers}/**/*.test.ts",
  "test/terminal/**/*.test.ts",
];

/** What takes longest begins first, also where nothing is known of an earlier run: otherwise all wait for it at the end. */
const LONG = ["truth.test", "fleet/fleet", "docs.test", "browser/ui", "lanes/", "github/", "worktree.test"];
class LongestFirst extends BaseSequencer {
  async sort(files) {
    const place = ({ moduleId }) => (LONG.findIndex((name) => moduleId.includes(name)) + 99) % 99;
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other));
  }
}

/** More than there are cores: most of the time tests wait for other processes. */
const WORKERS = 7;

// It makes every start of Node three times as slow, and the tests talk to nobody outside.
delete process.env.NODE_EXTRA_CA_CERTS;

const leftOut = leftOutSuites();
/** Without it, sources that become CommonJS are not read as TypeScript. */
const oxc = { include: /\.c?tsx?$/ };
/** Whoever runs them, git has no name and no settings of theirs, and neither has ralph. */
const env = { GIT_CONFIG_GLOBAL: "/dev/null", RALPH_HOME: "/dev/null/ralph" };
const setupFiles = ["test/clean-up.ts"];
/** Where others share the machine, one timeout must not hold up a landing; what fails twice, fails. */
const retry = process.env.CI ? 1 : 0;
const shared = { testTimeout: 60_000, hookTimeout: 60_000, retry, env, setupFiles };

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        oxc,
        test: {
          ...shared,
          name: "together",
          include: ["test/**/*.test.ts"],
          exclude: [...ALONE, ...WAITING, ...leftOut],
          maxWorkers: WORKERS,
          // They keep nothing that another one would find, and loading everything anew takes a third of their time.
          isolate: false,
          sequence: { groupOrder: 1 },
        },
      },
      {
        oxc,
        test: {
          ...shared,
          name: "waiting",
          include: WAITING,
          exclude: leftOut,
          maxWorkers: WORKERS,
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
