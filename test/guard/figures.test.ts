import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { judgeCommand } from "../../src/guard/guard.js";
import { corpus, hiddenCommands, PLACE } from "./corpus.js";

function row(name: string, commands: string[], isRight: (allowed: boolean) => boolean): string {
  const passed = commands.filter((command) => judgeCommand(command, PLACE).allowed).length;
  const refused = commands.length - passed;
  const missed = isRight(true) ? refused : passed;
  return `| ${[name, commands.length, refused, passed, missed].join(" | ")} |`;
}

it("docs/guard.md has the figures of today", () => {
  const list = (name: string): string[] => corpus(name).map(({ command }) => command);
  const rows = [
    row("must be refused", list("refused.txt"), (allowed) => !allowed),
    row("must pass", list("passed.txt"), (allowed) => allowed),
    row("hidden", hiddenCommands(), (allowed) => !allowed),
  ];
  const page = readFileSync(join(import.meta.dirname, "../../docs/guard.md"), "utf8");
  expect(page.split("\n").filter((line) => /^\| (must|hidden) ?/.test(line))).toEqual(rows);
});
