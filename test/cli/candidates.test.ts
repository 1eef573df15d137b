import { Argument, Command, Option } from "commander";
import { describe, expect, it } from "vitest";
import { candidates } from "../../src/cli/candidates.js";

const SOURCES = {
  agent: async () => [
    { value: "claude", description: "here" },
    { value: "a:b c", description: "profile" },
  ],
  run: async () => [
    { value: "2026-b", description: "running" },
    { value: "2026-a", description: "finished" },
  ],
};

function program(): Command {
  const collect = (value: string, before: string[] = []) => [...before, value];
  const top = new Command("ralph").version("1").helpCommand(false);
  top.enablePositionalOptions();
  top
    .command("run")
    .description("run it")
    .option("-p, --prompt <text>", "the prompt")
    .option("-f, --prompt-file <file>", "a file")
    .option("-q, --quiet", "less")
    .option("-V, --verbose", "more")
    .option("-n, --count <n>", "a number")
    .option("--agent <name>", "an agent")
    .option("--check <command>", "a check", collect)
    .option("--color", "colours")
    .option("--no-color", "no colours")
    .option("--into <dir>", "a folder")
    .option("--like [run]", "a run, perhaps")
    .addOption(new Option("--kind <kind>", "a kind").choices(["file", "folder"]))
    .addOption(new Option("--secret <file>").hideHelp());
  top.command("resume").description("go on").argument("[run]").option("--json", "as JSON");
  top.command("report").description("show").argument("<run>").argument("[output-file]");
  top.command("say").description("free text").argument("<text>").option("--loud", "shout");
  top.command("pick").addArgument(new Argument("<shells...>").choices(["bash", "zsh"]));
  const config = top.command("config").description("settings");
  config.command("get").description("one").argument("<key>").option("--raw", "as it is");
  config.command("set").description("change one");
  top.command("secret", { hidden: true }).option("--x");
  return top;
}

async function values(...words: string[]): Promise<string[]> {
  return (await candidates(program(), words, SOURCES)).map(({ value }) => value);
}

const FLAGS_OF_RUN = [
  "--prompt",
  "--prompt-file",
  "--quiet",
  "--verbose",
  "--count",
  "--agent",
  "--check",
  "--color",
  "--no-color",
  "--into",
  "--like",
  "--kind",
  "--help",
];
const COMMANDS = ["run", "resume", "report", "say", "pick", "config"];
const without = (...flags: string[]) => FLAGS_OF_RUN.filter((flag) => !flags.includes(flag));

describe("commands", () => {
  it.each([
    ["all of them, not the hidden one", [""], COMMANDS],
    ["by their beginning", ["re"], ["resume", "report"]],
    ["flags of the program", ["-"], ["--version", "--help"]],
    ["after a flag of the program", ["--version", "ru"], ["run"]],
    ["of a command", ["config", ""], ["get", "set", "help"]],
    ["flags of a command of a command", ["config", "get", "k", ""], ["--raw", "--help"]],
    ["after a word that is no command", ["nope", ""], []],
  ])("%s", async (_, words, expected) => {
    expect(await values(...words)).toEqual(expected);
  });

  it("come with their descriptions", async () => {
    expect(await candidates(program(), ["ru"], SOURCES)).toEqual([{ value: "run", description: "run it" }]);
  });
});

describe("flags", () => {
  it.each([
    ["all of them, not the hidden one", ["run", "-"], FLAGS_OF_RUN],
    ["where nothing else can stand", ["run", ""], FLAGS_OF_RUN],
    ["by their beginning", ["run", "--pro"], ["--prompt", "--prompt-file"]],
    ["not twice", ["run", "--quiet", "--"], without("--quiet")],
    ["not twice with an attached value", ["run", "--count=3", "--"], without("--count")],
    ["neither it nor its opposite", ["run", "--no-color", "--"], without("--color", "--no-color")],
    ["again when it is repeatable", ["run", "--check", "x", "--ch"], ["--check"]],
    ["a value that looks like a flag", ["run", "-p", "--quiet", "--q"], ["--quiet"]],
    ["a value that looks like a command", ["run", "-p", "resume", "--q"], ["--quiet"]],
    ["none after --", ["run", "--", "-"], []],
    ["of the program not after a command", ["run", "--vers"], []],
  ])("%s", async (_, words, expected) => {
    expect(await values(...words)).toEqual(expected);
  });
});

describe("values", () => {
  it.each([
    ["of --agent", ["run", "--agent", ""], ["claude", "a:b c"]],
    ["of --agent=", ["run", "--agent="], ["--agent=claude", "--agent=a:b c"]],
    ["of choices, whatever the value is called", ["run", "--kind", ""], ["file", "folder"]],
    ["of an argument that is a run", ["resume", ""], ["2026-b", "2026-a"]],
    ["of an argument after a flag", ["resume", "--json", "2026-a"], ["2026-a"]],
    ["of a second argument", ["report", "2026-b", ""], [":file"]],
    ["of an argument with choices, again and again", ["pick", "bash", "zsh", ""], ["bash", "zsh"]],
    ["of a flag that may have one", ["run", "--like", ""], ["2026-b", "2026-a"]],
    ["none for a flag that may have one and got another", ["run", "--like", "--q"], ["--quiet"]],
    ["of nothing that ralph knows", ["run", "--prompt", ""], []],
    ["of an argument that is free", ["say", ""], []],
    ["of a flag that takes none", ["run", "--quiet=x"], []],
    ["none after --", ["resume", "--", ""], []],
  ])("%s", async (_, words, expected) => {
    expect(await values(...words)).toEqual(expected);
  });

  it.each([
    ["a file", ["run", "-f", "x"], { value: ":file", description: "" }],
    ["a file after =", ["run", "--prompt-file=x"], { value: ":file", description: "--prompt-file=" }],
    ["a file attached to a short flag", ["run", "-fx"], { value: ":file", description: "-f" }],
    ["a folder", ["run", "--into", ""], { value: ":dir", description: "" }],
    ["a file of a hidden flag", ["run", "--secret", ""], { value: ":file", description: "" }],
  ])("%s is left to the shell, with what stands before it", async (_, words, expected) => {
    expect(await candidates(program(), words, SOURCES)).toEqual([expected]);
  });
});
