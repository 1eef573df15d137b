import { RalphError } from "../errors.js";
import { quoteWord } from "../words.js";
import { flagWords } from "./flag-words.js";
import type { SafetyNetFlags } from "./flags.js";

const NETS: Record<keyof SafetyNetFlags, true> = {
  maxIterations: true,
  maxCost: true,
  maxTokens: true,
  maxTime: true,
  iterationTimeout: true,
  inactivityTimeout: true,
  maxFailures: true,
  stuckAfter: true,
  waitForLimits: true,
  maxLimitWait: true,
  allowOverage: true,
  overage: true,
  fallbackAgent: true,
  escalateModel: true,
  keepBackground: true,
  sandbox: true,
};

/** The limits of a command line, as its words. */
export function givenLimits(flags: SafetyNetFlags): string[] {
  const names = Object.keys(NETS) as (keyof SafetyNetFlags)[];
  return names.flatMap((name) => (flags[name] === undefined ? [] : flagWords(name, flags[name])));
}

/** A loop that lives keeps the limits that it was started with. */
export function refuseLimits(name: string, flags: SafetyNetFlags, meanwhile: string): void {
  const given = givenLimits(flags);
  const [flag] = given;
  if (flag === undefined) return;
  throw new RalphError(`${flag.split("=")[0]} cannot be changed while ${meanwhile}`, {
    code: "flag_invalid",
    hint: `ralph kill ${name} ends it, and ralph resume ${name} ${given.map(quoteWord).join(" ")} goes on with it`,
  });
}
