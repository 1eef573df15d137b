import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { BEFORE_FILE, type PipelineSpec, type PipelineState } from "../recipes/pipeline/spec.js";
import { asksForWork } from "../recipes/pipeline/weakened.js";
import { writeAlone } from "../records/files.js";
import { quoteWord } from "../words.js";
import type { RunContext } from "./run-context.js";

const PROGRAM = fileURLToPath(new URL("../../bin/ralph.js", import.meta.url));

/** What the gates of a pipeline know. Their `ralph` is this one, wherever it is installed. */
export function gateEnvironment(
  spec: PipelineSpec,
  { folder, env }: Pick<RunContext, "folder" | "env">,
): (state: PipelineState) => NodeJS.ProcessEnv {
  const { specFile, prpFile, testCommand } = spec;
  const bin = join(folder.path, "bin");
  mkdirSync(bin, { recursive: true, mode: 0o700 });
  const script = `#!/bin/sh\nexec ${quoteWord(process.execPath)} ${quoteWord(PROGRAM)} "$@"\n`;
  writeAlone(join(bin, "ralph"), script, 0o700);
  return (state) => ({
    PATH: `${bin}:${env["PATH"] ?? ""}`,
    RALPH_STATE: state.name,
    RALPH_SPEC_FILE: specFile,
    RALPH_PRP_FILE: prpFile,
    ...(testCommand !== undefined && { RALPH_TEST_COMMAND: testCommand }),
    RALPH_BEFORE: join(folder.path, BEFORE_FILE),
    RALPH_ONLY_NEW: asksForWork(spec, state) ? "1" : "",
  });
}
