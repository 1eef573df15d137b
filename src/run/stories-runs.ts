import { type RunFolder, runsIn } from "../records/runs.js";
import { readSpec } from "./spec.js";

interface Place {
  project: string;
  /** The folder of the stories, from the project on. */
  dir: string;
}

/** Every run over these stories, the oldest first; `workspace`: only those in the folder itself. */
export function runsOf(home: string, { project, dir }: Place, where: "workspace" | "anywhere"): RunFolder[] {
  return runsIn(home)
    .list()
    .filter((folder) => {
      try {
        const { recipe, workspace, origin } = readSpec(folder);
        const places = where === "workspace" ? [workspace] : [workspace, origin];
        return recipe.kind === "stories" && recipe.dir === dir && places.includes(project);
      } catch {
        return false;
      }
    });
}
