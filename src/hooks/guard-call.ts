import { answerHook } from "./answer.cjs";
import { readInput } from "./hook.cjs";
import { answerAt, placeOf, preToolUse } from "./pre-tool-use.js";

/** All of `ralph hook pre-tool-use`; the build makes one file of it and of everything that it needs. */
export function answerGuard(): Promise<void> {
  return answerHook("pre-tool-use", preToolUse);
}

/** Goes the ways that most calls go, so that what was compiled for them can be kept. */
export function tryOut(): void {
  const place = { ...placeOf("/", process.env), allowed: { exceptions: [], ignored: [] } };
  for (const command of TYPICAL) {
    const input = readInput(JSON.stringify({ tool_name: "Bash", tool_input: { command } }));
    if (input !== undefined) answerAt(input, place);
  }
}

/** More of them would make what is kept larger, and so slower to load for all the others. */
const TYPICAL = [
  "cd src && npm run build && npm test -- --run 2>&1 | tail -n 20",
  'git add -A && git commit -m "Add it" && echo "$(date)" > out.txt',
];
