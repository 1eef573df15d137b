// The reference of the commands, made from the rows of src/cli.
import { COMMANDS } from "../dist/cli/commands.js";

export function cliPage() {
  return `# Commands

<!-- Made from src/cli by: npm run docs -->

\`ralph COMMAND --help\` prints the same. Flags win over [settings](settings.md). [Which command do I need?](../start/which-command.md) compares the commands that start a loop.

${Object.entries(COMMANDS).map(section).join("\n")}`;
}

function section([heading, rows]) {
  const commands = rows.filter(({ isHidden }) => isHidden !== true).flatMap((row) => command(row, "ralph"));
  return `## ${heading.replace(":", "")}\n\n${commands.join("\n")}`;
}

/** A command, then those below it. */
function command(
  { words, about, args = {}, flags = [], help: [text, ...examples] = [""], commands = [] },
  above,
) {
  const [name] = words.split(" ");
  const parts = [
    `### \`${above} ${words}\``,
    sentence(about),
    ...argumentLines(args),
    ...flagTable(flags.filter(({ isHidden }) => isHidden !== true)),
    `\`\`\`text\n${text}\n\`\`\``,
    `\`\`\`sh\n${examples.join("\n")}\n\`\`\``,
  ];
  return [`${parts.join("\n\n")}\n`, ...commands.flatMap((row) => command(row, `${above} ${name}`))];
}

function sentence(text) {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}

function argumentLines(args) {
  return Object.entries(args).map(([name, about]) => `\`${name}\`: ${marked([about].flat().join(", "))}`);
}

function flagTable(flags) {
  if (flags.length === 0) return [];
  const rows = flags.map(({ flags: names, help }) => `| \`${names}\` | ${marked(help)} |`);
  return [["| flag | |", "|---|---|", ...rows].join("\n")];
}

/** Flags and tags as code. */
function marked(text) {
  return text.replace(/--[a-z][a-z-]*|<\/?\w+>/g, "`$&`");
}
