export type { FunctionAgent, FunctionAnswer, FunctionContext } from "./ask/run-function.js";
export { RalphError } from "./errors.js";
/** What a program that reads ralph's events needs: the types of `--json` and of the journal. */
export type * from "./events.js";
export type { LoopSpec, LoopSpec as RalphConfig, MoreLimits } from "./library/loop-spec.js";
export type { CheckOutcome, LoopIteration, RalphLoopResult } from "./library/ralph-loop.js";
export { RalphLoop, runLoop } from "./library/ralph-loop.js";
