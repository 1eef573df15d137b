import { Argument, type Command } from "commander";
import {
  about,
  commandOf,
  withAgent,
  withBaseline,
  withLook,
  withOutput,
  withReport,
  withSafetyNets,
} from "./options.js";

/** `ralph pipeline …`: its commands and flags. */
export function addPipeline(pipeline: Command, exitWith: (code: number) => void): void {
  const command = commandOf(pipeline);

  pipeline.helpCommand(false).addHelpText(
    "after",
    about(
      `STRESS_TEST, VALIDATE, GENERATE_PRP, CHECK_PRP, GENERATE_TESTS, CHECK_TESTS,
IMPLEMENT: each state has a gate that has to pass before the next one begins.
ralph pipeline COMMAND --help says more.`,
      "ralph pipeline run specs/recipe-saver.md",
      "ralph pipeline status",
      "ralph pipeline resume",
    ),
  );

  addRun(command("run", "go from a spec to working code, through gates"), exitWith);
  addResume(command("resume", "go on at the state where the pipeline stopped"), exitWith);

  withLook(command("status", "show where the pipeline of this folder stands"))
    .option("--json", "as JSON")
    .addHelpText("after", about("Reads the journal and changes nothing.", "ralph pipeline status"))
    .action(async (flags) => exitWith(await (await import("../commands/pipeline/status.js")).status(flags)));

  command("init", "write the default pipeline to .ralph/pipeline.yaml, to edit it")
    .option("--validate-tests", "also write validate-tests.sh, and use it in CHECK_TESTS")
    .option("--force", "overwrite what is there")
    .addHelpText("after", about("States, gates, pass conditions and timeouts.", "ralph pipeline init"))
    .action(async (flags) => exitWith(await (await import("../commands/pipeline/init.js")).init(flags)));
}

function addRun(to: Command, exitWith: (code: number) => void): void {
  withReport(
    withOutput(
      withBaseline(
        withSafetyNets(
          withAgent(
            withRetries(to.argument("<spec-file>", "the spec"))
              .option("--test-command <command>", "how the tests are run (default: as the project tells)")
              .option("--dry-run", "show the states and their gates, and write nothing")
              .option("--worktree [name]", "work in a git worktree of its own")
              .option("-C, --config <file>", "JSON or YAML file in place of .ralph/settings.json"),
          ),
          "what the retries allow",
          { stuckAfter: 0 },
        ),
      ),
    ),
  )
    .addHelpText(
      "after",
      about(
        `A gate that fails is tried again with a fresh agent, which gets what it said.
When the retries are exhausted the pipeline stops in the GUTTER, with its output
in .ralph/gutter-STATE.log and all changes in .ralph/gutter-diff.patch. Mend it,
then ralph pipeline resume goes on.`,
        "ralph pipeline run specs/recipe-saver.md --max-gate-retries 3",
        "ralph pipeline run --dry-run specs/recipe-saver.md",
      ),
    )
    .action(async (spec, flags) =>
      exitWith(await (await import("../commands/pipeline/run.js")).run(spec, flags)),
    );
}

function addResume(to: Command, exitWith: (code: number) => void): void {
  withReport(withOutput(withSafetyNets(withRetries(to), null)))
    .addHelpText(
      "after",
      about(
        "After the GUTTER the gate looks first, and the state has all of its retries again.",
        "ralph pipeline resume",
        "ralph pipeline resume --max-gate-retries 5",
      ),
    )
    .action(async (flags) => exitWith(await (await import("../commands/pipeline/resume.js")).resume(flags)));
}

function withRetries(to: Command): Command {
  return to.option("--max-gate-retries <n>", "failures of a gate until the GUTTER (default: 5)");
}

const GATES = ["stress-test", "validate", "generate", "check", "implement", "check-tests"];

/** `ralph gate …`: its arguments and flags. */
export function addGate(gate: Command, exitWith: (code: number) => void): void {
  withLook(
    gate
      .addArgument(new Argument("<gate>", "the gate").choices(GATES).argParser(String))
      .argument("<file>", "the spec; for check, implement and check-tests the PRP"),
  )
    .option("--json", "as JSON")
    .option("--spec <file>", "check: the spec of the PRP (default: specs/NAME.md)")
    .option("--prp <file>", "generate: where the PRP belongs (default: PRPs/NAME.prp.md)")
    .option("--tests <dir>", "implement, check-tests: the tests (default: all of the project)")
    .option("--test-command <command>", "check-tests: how the tests are run")
    .option("--timeout <duration>", "check-tests: the suite may take that long (default: 5m)")
    .option("--implemented", "check-tests: the code is there already, the suite is not run")
    .addHelpText(
      "after",
      about(
        `Asks no agent. Prints findings with their lines, writes an instruction to
.ralph/GATE-instruction.md, exits 0 when the gate passes and 1 when it does not.
  stress-test  the spec is complete      validate     the spec is clear
  generate     the PRP is there          check        the PRP has its parts
  implement    the tests are there       check-tests  the tests are sound`,
        "ralph gate stress-test specs/recipe-saver.md",
        "ralph gate check PRPs/recipe-saver.prp.md --json",
      ),
    )
    .action(async (name, file, flags) =>
      exitWith(await (await import("../commands/gate.js")).gate(name, file, flags)),
    );
}
