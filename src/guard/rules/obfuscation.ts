import { type Call, isUnknown } from "../call.js";
import { type Judged, refuse } from "../finding.js";
import { FETCHERS, isShell, readsProgram } from "../wrappers/programs.js";
import type { Rule } from "./rule.js";

/** Programs that are told by others what to do, at a point where nobody can know what. */
export const obfuscation: Rule = {
  category: "obfuscation",
  judge(call) {
    if (call.program === "enable" && call.args.includes("-f")) return refuse("it loads code into the shell");
    return fedProgram(call);
  },
};

/** `… | sh`, `sh < <(…)`: known text is judged as a script of its own. */
function fedProgram(call: Call): Judged | undefined {
  const { input, program } = call;
  if (input === undefined || !readsProgram(call)) return undefined;
  const fetched = [...input.from, ...call.substituted].find((name) => FETCHERS.has(name));
  if (fetched !== undefined)
    return { ...refuse(`it runs what ${fetched} fetches`), category: "exfiltration" };
  if (isScriptFile(input.from)) return undefined;
  if (input.text === undefined)
    return refuse(`${program} runs what nobody has seen: ${input.from.join(", ") || "its input"}`);
  return isShell(program) && isUnknown(input.text.trim().split(/\s/)[0] ?? "")
    ? refuse(`${program} runs what nobody has seen`)
    : undefined;
}

/** `sh < file` is as good as `sh file`. */
function isScriptFile(from: string[]): boolean {
  return from.length > 0 && from.every((name) => name === "<" || name === "cat") && from.includes("<");
}
