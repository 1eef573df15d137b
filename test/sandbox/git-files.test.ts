import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { gitFiles } from "../../src/sandbox/git-files.js";
import { createProject } from "../kit.js";

it("a repository with a line break in its name is refused, and said plainly", async () => {
  const p = createProject({ git: false });
  const folder = join(p.dir, "a\nb");
  mkdirSync(folder);
  p.sh("git init -q \"$(printf 'a\\nb')\"");
  await expect(gitFiles(folder)).rejects.toThrow(
    `the repository of ${JSON.stringify(folder)}, or the folder of its hooks, has a line break in its name`,
  );
});
