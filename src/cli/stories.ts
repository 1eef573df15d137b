import type { Command } from "commander";
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

/** `ralph stories …`: its commands and flags. */
export function addStories(stories: Command, exitWith: (code: number) => void): void {
  const command = (name: string, description: string): Command =>
    withPlace(commandOf(stories)(name, description));

  stories.helpCommand(false).addHelpText(
    "after",
    about(
      `An agent implements one story, another one with a fresh context reviews it, and so
on until every story is approved. ralph stories COMMAND --help says more.`,
      "ralph stories init --name checkout",
      "ralph stories run",
      "ralph stories status",
    ),
  );

  command("init", "make ralph/ with prd.md, tasks.json, progress.txt and prompt.md")
    .option("--name <feature>", "name of the feature; the branch is ralph/NAME")
    .option("--force", "overwrite what is there")
    .addHelpText("after", about("Adds .ralph-active to .gitignore.", "ralph stories init --name checkout"))
    .action(async (flags) => exitWith(await (await import("../commands/stories/init.js")).init(flags)));

  withAgent(command("plan", "let an agent ask you, and write prd.md and tasks.json"))
    .option("-C, --config <file>", "JSON or YAML file in place of .ralph/settings.json")
    .addHelpText("after", about("Starts the agent in this terminal.", "ralph stories plan"))
    .action(async (flags) => exitWith(await (await import("../commands/stories/plan.js")).plan(flags)));

  command("import", "take over the stories of a prd.json that knows no reviews")
    .argument("<file>")
    .option("--force", "overwrite tasks.json")
    .addHelpText(
      "after",
      about("Stories that were passed there begin with their review.", "ralph stories import prd.json"),
    )
    .action(async (file, flags) =>
      exitWith(await (await import("../commands/stories/import.js")).importFile(file, flags)),
    );

  addRun(command("run", "loop until every story is approved"), exitWith);

  withLook(command("status", "show the stories, where they stand, and what comes next"))
    .option("--stats", "reviews, iterations, cost and time per story")
    .option("--json", "as JSON")
    .addHelpText("after", about("Changes nothing.", "ralph stories status", "ralph stories status --stats"))
    .action(async (flags) => exitWith(await (await import("../commands/stories/status.js")).status(flags)));

  withLook(withReviews(command("verify", "run the checks that an agent has to pass before it may stop")))
    .addHelpText(
      "after",
      about("Exits 1 when something is wrong. Asks no agent, changes nothing.", "ralph stories verify"),
    )
    .action(async (flags) => exitWith(await (await import("../commands/stories/verify.js")).verify(flags)));

  command("archive", "put the stories away in ralph-archive/, start anew, and commit that")
    .option("--label <label>", "end of the name of the folder (default: the branch)")
    .addHelpText(
      "after",
      about("Moves prd.md, tasks.json and progress.txt, and writes summary.md.", "ralph stories archive"),
    )
    .action(async (flags) => exitWith(await (await import("../commands/stories/archive.js")).archive(flags)));
}

const ITERATIONS = 15;

function addRun(to: Command, exitWith: (code: number) => void): void {
  withReport(
    withOutput(
      withBaseline(
        withSafetyNets(
          withAgent(
            withReviews(to)
              .option("--worktree [name]", "work in a git worktree of its own")
              .option("-C, --config <file>", "JSON or YAML file in place of .ralph/settings.json"),
            "-m, ",
          ).option("--reviewer-agent <agent>", "another agent for the reviews"),
          ITERATIONS,
          { sandbox: "auto" },
        ),
      ),
    ),
  )
    .addHelpText(
      "after",
      about(
        `Every iteration implements a story, reviews one, or addresses the feedback of a
review. What an agent may not do is put back; three such iterations in a row end
the run.`,
        "ralph stories run",
        "ralph stories run --max-iterations 30 --reviewer-agent codex",
        "ralph stories run --skip-review",
      ),
    )
    .action(async (flags) => exitWith(await (await import("../commands/stories/run.js")).run(flags)));
}

function withPlace(to: Command): Command {
  return to
    .option("-d, --project-dir <dir>", "the project (default: this folder)")
    .option("--ralph-dir <dir>", "folder of the stories in the project (default: ralph)");
}

function withReviews(to: Command): Command {
  return to
    .option("--skip-review", "no reviews: implement iterations pass their story")
    .option("--no-skip-review", "reviews, whatever the settings say")
    .option("--review-cap <n>", "reviews per story at the most (default: 5)");
}
