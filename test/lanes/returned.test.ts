import { join } from "node:path";
import { expect, test } from "vitest";
import { mergeIntoLane } from "../../src/lanes/returned.js";
import { createProject } from "../kit.js";

test("a merge into a lane that was cut off begins anew, without what it had written", async () => {
  const p = createProject();
  p.sh(`echo one > shared.txt; git add -A; git commit -qm base; git branch lane
    echo theirs >> shared.txt; echo new > new.txt; git add -A; git commit -qm landed
    git worktree add -q ../lane lane; cd ../lane; echo ours >> shared.txt; git commit -qam ours
    echo half > shared.txt; echo ne > new.txt; touch "$(git rev-parse --git-dir)/index.lock"`);
  const [lane, target] = [join(p.dir, "../lane"), p.sh("git rev-parse HEAD").trim()];
  await mergeIntoLane(lane, target, { "progress.txt": "done\n" });
  expect(p.sh("cd ../lane; git rev-parse MERGE_HEAD; git status --porcelain; git log -1 --format=%s")).toBe(
    `${target}\nA  new.txt\nA  progress.txt\nUU shared.txt\nours\n`,
  );
});
