import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { RalphError } from "../../../errors.js";
import { inPackage } from "../../../package-folder.cjs";
import { testCommand } from "../../../workspace/project.js";
import { isKnownRunner } from "../../../workspace/runner.js";
import { readTextFile } from "../../text-file.js";
import { PIPELINE_FILES, type PipelineState } from "../spec.js";
import { type PipelineFile, readPipelineText } from "./pipeline-file.js";
import { filledIn } from "./placeholders.js";

export const VALIDATE_TESTS = "validate-tests.sh";

const DEFAULT = inPackage("templates/pipeline.yaml");
const DEFAULT_RETRIES = 5;

export interface Pipeline {
  states: PipelineState[];
  maxGateRetries: number;
  testCommand: string | undefined;
}

export interface About {
  specFile: string;
  prpFile: string;
  /** Given by the user; else it is found. */
  testCommand?: string | undefined;
}

/** The pipeline of a project: its own file, else the default one. Everything that is wrong is found here. */
export async function loadPipeline(project: string, about: About): Promise<Pipeline> {
  const own = ownPipeline(project);
  const file = own
    ? await readPipelineText(readTextFile("pipeline", own, project), own)
    : await readPipelineText(defaultPipeline(project), "the default pipeline");
  const command = about.testCommand ?? ownTestCommand(file) ?? testCommand(project);
  const unknownRunner = command !== undefined && !isKnownRunner(command, project);
  return {
    states: filledIn(file, { ...about, testCommand: command, unknownRunner }),
    maxGateRetries: file.maxGateRetries ?? DEFAULT_RETRIES,
    testCommand: command,
  };
}

/** The project's own file, if it has one. */
export function ownPipeline(project: string): string | undefined {
  const [own, other] = PIPELINE_FILES.filter((file) => existsSync(join(project, file)));
  if (other === undefined) return own;
  throw new RalphError(`${own} and ${other} are both there`, {
    code: "pipeline_twice",
    hint: "keep one of them",
  });
}

/** With the project's own script for CHECK_TESTS, where it has one. */
export function defaultPipeline(project: string): string {
  const text = readFileSync(DEFAULT, "utf8");
  if (!isExecutable(join(project, VALIDATE_TESTS))) return text;
  return text.replace("ralph gate check-tests {{prp_file}}", `./${VALIDATE_TESTS} tests/`);
}

/** What the project says of IMPLEMENT itself is how its tests are run. */
function ownTestCommand({ states }: PipelineFile): string | undefined {
  const command = states.find(({ name }) => name === "IMPLEMENT")?.command;
  return command?.includes("{{") ? undefined : command;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
