import { describe, expect, it } from "vitest";
import { createProject, type Project } from "../kit.js";

/** One state whose gate prints nothing and fails until `ok` is there. */
const YAML = "states:\n  ONLY: { command: test -f ok, agent: never }\n";

function withFiles(...files: string[]): Project {
  const p = createProject();
  p.settings({ agent: { command: "claude" } });
  p.agent([{ text: "tried" }]);
  p.write("s.md", "A spec.\n");
  for (const file of files) p.write(file, YAML);
  p.sh("git add -A && git commit -qm spec");
  return p;
}

describe(".ralph/pipeline.yml", () => {
  it("is read, its gate in the gutter says why, and resume names the run and the spec", async () => {
    const p = withFiles(".ralph/pipeline.yml");
    const failed = await p.ralph("pipeline", "run", "s.md", "--max-gate-retries", "1", "--json");
    expect(failed.finished.reason).toBe("gutter");
    expect(p.read(".ralph/gutter-ONLY.log")).toMatch(
      /^\$ test -f ok\n[\s\S]*It printed nothing \(exit code 1\)/,
    );
    p.write("ok", "");
    const resumed = await p.ralph("pipeline", "resume");
    expect(resumed.stderr).toContain(`ralph: resuming run ${failed.finished.run}, the pipeline for s.md\n`);
    expect(resumed.code).toBe(0);
  });

  it("beside pipeline.yaml is exit 2, and both are named", async () => {
    const p = withFiles(".ralph/pipeline.yaml", ".ralph/pipeline.yml");
    for (const command of [["run", "s.md"], ["run", "--dry-run", "s.md"], ["init"]]) {
      const refused = await p.ralph("pipeline", ...command);
      expect([refused.code, refused.stderr]).toEqual([
        2,
        "ralph: error: .ralph/pipeline.yaml and .ralph/pipeline.yml are both there (keep one of them)\n",
      ]);
    }
  });

  it("is not passed over by init", async () => {
    const refused = await withFiles(".ralph/pipeline.yml").ralph("pipeline", "init");
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining(".ralph/pipeline.yml already there"),
    ]);
  });
});
