import { innerRepositories, withoutFilters } from "../stage.js";
import type { Git } from "./own-git.js";

const GITLINK = "160000";

/** Repositories that an agent made: git would commit their names, and none of their files. */
export async function stagedRepositories(inTree: Git): Promise<string[]> {
  const what = ["--cached", "--raw", "--no-renames", "--ignore-submodules=none", "-z"];
  const fields = (await inTree(["diff", ...what])).stdout.split("\0");
  return fields.filter((_, index) => isNewLink(fields[index - 1]));
}

/** `:mode mode hash hash LETTER`, with the path behind it. */
function isNewLink(record = ""): boolean {
  const [before, after] = record.split(" ");
  return after === GITLINK && before !== `:${GITLINK}`;
}

/** Submodules with changes that are not committed in them. */
export async function dirtySubmodules(path: string, inTree: Git): Promise<string[]> {
  const settings = await withoutFilters(await innerRepositories(path, inTree), inTree);
  const what = [
    "--porcelain=v2",
    "--no-renames",
    "--ignore-submodules=none",
    "--untracked-files=normal",
    "-z",
  ];
  const { stdout } = await inTree(["--no-optional-locks", "status", ...what], { settings });
  return stdout.split("\0").flatMap((record) => {
    const [kind, , submodule = "", ...rest] = record.split(" ");
    return kind === "1" && /^S.(?:M|.U)/.test(submodule) ? [rest.slice(5).join(" ")] : [];
  });
}
