import { plainArgs } from "../args.js";
import type { Call } from "../call.js";
import type { Judged } from "../finding.js";
import { isInside, resolvePath } from "../paths.js";
import { protection } from "../protected.js";
import { writtenPaths } from "../writes.js";
import type { Rule } from "./rule.js";

export const protectedPaths: Rule = {
  category: "protected-paths",
  judge(call) {
    for (const path of writtenPaths(call)) {
      const judged = protection(path, call.scope);
      if (judged !== undefined) return judged;
    }
    return call.program === "ln" ? linked(call) : undefined;
  },
};

/** A link leads later commands to where they must not write. */
function linked(call: Call): Judged | undefined {
  const [target = ""] = plainArgs(call.args, ["-t", "-S"]);
  const path = resolvePath(target, call.scope);
  const { home, workspace } = call.scope.place;
  const isAround = path === "/" || path === home || (isInside(home, path) && !isInside(path, workspace));
  if (isAround) return { level: "refuse", reason: `a link to ${target} leads out of the project` };
  const judged = protection(target, call.scope);
  return judged && !/^\/(usr|opt|bin|lib|var)\//.test(path)
    ? { ...judged, reason: `a link to ${target} leads to what is protected` }
    : undefined;
}
