import { type Command, Option } from "commander";

/** Flags that several commands share, and how their help looks. */

/** Makes commands of the parent, in one manner. */
export function commandOf(parent: Command): (name: string, description: string) => Command {
  return (name, description) =>
    parent.command(name).description(description).helpOption("-h, --help", "show help");
}

export function about(text: string, ...examples: string[]): string {
  return `\n${text}\n\nExamples:\n${examples.map((example) => `  ${example}`).join("\n")}\n`;
}

/** `short` is a letter for the model, where it is not taken. */
export function withAgent(to: Command, short = ""): Command {
  return to
    .optionsGroup("Agent:")
    .option(
      "--agent <name>",
      "claude, codex, amp, gemini, opencode, a profile in the settings, or any command",
    )
    .option(`${short}--model <model>`, "the agent's model")
    .option("--agent-flag <flag>", "a flag for the agent (repeatable)", collect);
}

/** `iterations` is null where limits that are not given stay as they were. */
export function withSafetyNets(
  to: Command,
  iterations: number | string | null = 10,
  { stuckAfter = 3, sandbox = "none" } = {},
): Command {
  const unless = (value: string): string => (iterations === null ? "" : ` (default: ${value})`);
  return to
    .optionsGroup("Safety nets:")
    .option("-n, --max-iterations <n>", `iterations at the most${unless(String(iterations))}`)
    .option("--max-cost <usd>", "stop when more was spent")
    .option("--max-tokens <n>", "stop when more were used")
    .option("--max-time <duration>", "stop after 600 (seconds), 90s, 10m, 2h or 1d")
    .option("--iteration-timeout <duration>", "kill an agent that runs longer")
    .option("--inactivity-timeout <s>", `kill an agent without a sign of life, 0: never${unless("900")}`)
    .option("--max-failures <n>", `failed iterations in a row${unless("5")}`)
    .option(
      "--stuck-after <n>",
      `iterations that fail alike and bring nothing new, 0: never${unless(String(stuckAfter))}`,
    )
    .option("--escalate-model <model>", "ask this model when the run is stuck, before it is given up")
    .option(
      "--fallback-agent <agent>",
      "ask this one while the agent is limited or down (repeatable)",
      collect,
    )
    .option("--wait-for-limits", `wait until a usage limit ends${iterations === null ? "" : " (default)"}`)
    .option("--no-wait-for-limits", "stop when a usage limit is reached")
    .option("--max-limit-wait <duration>", `how long to wait for it at the most${unless("24h")}`)
    .addOption(new Option("--overage", "same as --allow-overage").hideHelp())
    .option("--no-overage", `paid extra usage counts as a limit${iterations === null ? "" : " (default)"}`)
    .option("--allow-overage", "let the agent go on with paid extra usage")
    .option("--keep-background", "leave alone what agents and checks leave running")
    .option("--no-inhibit", "let the machine fall asleep while the loop runs")
    .option("--sandbox [kind]", `shut the agent in: auto, docker, srt or none${unless(sandbox)}`)
    .option("--no-sandbox", "let the agent do all that you can");
}

/** For recipes with checks. */
export function withBaseline(to: Command): Command {
  return to.option("--baseline", "run the checks before the first iteration, and tell what failed already");
}

export function withReport(to: Command): Command {
  return to
    .optionsGroup("Report:")
    .option("--report <format>", "json, markdown or github, when the run has ended")
    .option("--report-file <file>", "where it goes (default: stdout)");
}

export function withOutput(to: Command): Command {
  return withLook(to.optionsGroup("Output:"))
    .option("--json", "one event per line on stdout")
    .option("-q, --quiet", "the closing summary alone")
    .option("-V, --verbose", "tell every step on stderr")
    .option("--timestamps", "the time before each line");
}

export function withLook(to: Command): Command {
  return to.option("--no-color", "no colours").option("--no-emoji", "text markers in place of emoji");
}

export function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}
