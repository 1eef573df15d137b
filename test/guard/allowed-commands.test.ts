import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { parseAllowedCommands, readAllowedCommands } from "../../src/guard/allowed-commands.js";
import { judgeCommand } from "../../src/guard/guard.js";
import { temporaryFolder } from "../kit.js";
import { PLACE } from "./corpus.js";

const FILE = `
# comments and empty lines are fine

npm publish --access public
git push --force origin my-*
kubectl delete ...
tee ...
bash -c ...
`;
const site = { ...PLACE, allowed: parseAllowedCommands(FILE) };
const isAllowed = (command: string): boolean => judgeCommand(command, site).allowed;

describe("ralph/allowed-commands.txt", () => {
  it("that is a pipe is told, and not waited for", () => {
    const folder = temporaryFolder();
    execFileSync("sh", ["-c", `mkdir ralph && cd ralph && mkfifo allowed-commands.txt`], { cwd: folder });
    expect(readAllowedCommands(folder)).toEqual({
      exceptions: [],
      ignored: [{ line: 0, text: "ralph/allowed-commands.txt", why: "it cannot be read: it is no file" }],
    });
  });

  it.each([
    "npm publish --access public",
    "npm test && npm publish --access public",
    "git push --force origin my-feature",
    "kubectl delete",
    "kubectl delete ns prod --wait",
  ])("lets %s run", (command) => {
    expect(isAllowed(command)).toBe(true);
  });

  it.each([
    ["another word", "npm publish --access restricted"],
    ["what comes after it", "npm publish --access public && rm -rf /"],
    ["what comes before it", "rm -rf / ; npm publish --access public"],
    ["where it writes to", "npm publish --access public > ~/.bashrc"],
    ["what stands in it", "kubectl delete $(rm -rf /)"],
    ["what is not known", 'kubectl delete "$x" ; git push --force origin "$x"'],
    ["its variables", "LD_PRELOAD=x npm publish --access public"],
    ["what runs it", "sudo npm publish --access public"],
    ["what it runs", "bash -c 'rm -rf /'"],
    ["a star across words", "git push --force origin my-feature main"],
    ["a star across what a shell reads", "git push --force origin 'my-;rm'"],
    ["the file itself", "tee ralph/allowed-commands.txt"],
  ])("does not excuse %s", (_, command) => {
    expect(isAllowed(command)).toBe(false);
  });

  it("is read line by line, and tells which lines it does not take", () => {
    const text = "rm x\r\nls && rm -rf /\nA=b ls\nls > x\nls $(x)\n* x\n...\n'open\nrm -rf 'a b' c*\n";
    expect(parseAllowedCommands(text)).toEqual({
      exceptions: [
        ["rm", "x"],
        ["rm", "-rf", "a b", "c*"],
      ],
      ignored: [
        { line: 2, text: "ls && rm -rf /", why: "it is more than one command" },
        { line: 3, text: "A=b ls", why: "variables and redirections cannot be allowed" },
        { line: 4, text: "ls > x", why: "variables and redirections cannot be allowed" },
        { line: 5, text: "ls $(x)", why: "it holds an expansion" },
        { line: 6, text: "* x", why: "it does not name a program" },
        { line: 7, text: "...", why: "it does not name a program" },
        { line: 8, text: "'open", why: "it cannot be parsed" },
      ],
    });
  });
});
