import { chmodSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { RalphError } from "../../errors.js";
import { inPackage } from "../../package-folder.cjs";
import { defaultPipeline, ownPipeline, VALIDATE_TESTS } from "../../recipes/pipeline/pipeline-file.js";
import { PIPELINE_FILES } from "../../recipes/pipeline/spec.js";
import { writeFresh } from "../../records/files.js";
import { prepareRuntimeFolder, RUNTIME_FOLDER, requireOwnFolder } from "../../workspace/runtime.js";

export interface InitFlags {
  validateTests?: boolean;
  force?: boolean;
}

const SCRIPT = inPackage("templates/validate-tests.sh");

/** `ralph pipeline init`: the default pipeline as a file, to be edited. */
export async function init({ validateTests = false, force = false }: InitFlags): Promise<number> {
  const project = process.cwd();
  const pipeline = ownPipeline(project) ?? PIPELINE_FILES[0];
  const wanted = [pipeline, ...(validateTests ? [VALIDATE_TESTS] : [])];
  const there = wanted.filter((file) => existsSync(file));
  if (there.length > 0 && !force) {
    throw new RalphError(`${there.join(", ")} already there`, {
      code: "file_exists",
      hint: "--force overwrites",
    });
  }
  requireOwnFolder(project);
  if (validateTests) {
    writeFresh(VALIDATE_TESTS, readFileSync(SCRIPT, "utf8"));
    chmodSync(VALIDATE_TESTS, 0o755);
  }
  mkdirSync(RUNTIME_FOLDER, { recursive: true });
  prepareRuntimeFolder(project);
  writeFresh(pipeline, defaultPipeline(project));
  process.stdout.write(wanted.map((file) => `created ${file}\n`).join(""));
  process.stdout.write("Next: edit it, then ralph pipeline run --dry-run SPEC shows what would be run\n");
  return 0;
}
