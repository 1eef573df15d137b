import { describe, expect, it } from "vitest";
import { AGENT, OLDER_PROGRAM, PROGRAM, type Staged, stage } from "./kit.js";

const DONE = { say: "<response>DONE</response>" };
/** What its shell can do: programs of the user's PATH, files here and in a temporary folder, nothing outside. */
const WORK = {
  bash: "{ only-here; node -v; touch ~/planted $HOME/../beside && echo outside; mktemp -u; git commit -q --allow-empty -m inside && git log -1 --format=%s; } > found.txt 2> said.txt",
};

describe("sandbox", () => {
  it("srt: its shell finds the programs of the user, works in the folder, and nowhere else", () =>
    works(PROGRAM));

  it.skipIf(OLDER_PROGRAM === undefined)("srt: the same with the release that npm installs on Node 20", () =>
    works(OLDER_PROGRAM),
  );
});

async function works(program: string | undefined): Promise<void> {
  const p = await stage([WORK, WORK, DONE], { sandbox: { kind: "srt" } }, program);
  p.program("only-here", "#!/bin/sh\necho from the PATH of the user\n");
  // Its shell has the PATH of a login shell, also without a sandbox.
  if (AGENT === "codex") p.write("../home/.profile", `PATH="${p.bin}:$PATH"\n`);
  const outside = filesIn(p);
  const { code, stderr } = await p.ralph("run", "-p", "Work", "--max-failures", "1", "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining("sandbox: srt") });
  expect(p.read("found.txt")).toMatch(
    /^from the PATH of the user\nv\d+\.\d+\.\d+\n\/.*ralph-sandbox-.*-tmp\/.*\ninside\n$/,
  );
  expect(filesIn(p)).toEqual(outside);
}

function filesIn(p: Staged): string {
  return p.sh(`find ${p.home} -not -path '*/.ralph/*' -type f | sort`);
}
