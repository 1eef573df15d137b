import { existsSync } from "node:fs";
import { join } from "node:path";
import { projectCommands } from "./project.js";

/** The command that runs the project's tests, as far as its files tell. */
export function testCommand(workspace: string): string | undefined {
  const found = projectCommands(workspace).find(({ purpose }) => purpose === "test")?.command;
  if (found !== "pytest") return found;
  const isElsewhere = !existsSync(join(workspace, "tests")) && existsSync(join(workspace, "test"));
  return isElsewhere ? "pytest -v" : "pytest tests/ -v";
}
