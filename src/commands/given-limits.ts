import { RalphError } from "../errors.js";
import { attributeOf, LIMIT_ROWS, longName } from "../settings/limits.js";
import { quoteWord } from "../words.js";
import { flagWords } from "./flag-words.js";

const NETS = [
  ...LIMIT_ROWS.map(([, { flag }]) => attributeOf(longName(flag))),
  ...["overage", "fallbackAgent", "escalateModel", "keepBackground", "sandbox"],
];

/** The limits of a command line, as its words. */
export function givenLimits(flags: object): string[] {
  const given = new Map(Object.entries(flags));
  return NETS.flatMap((name) => (given.get(name) === undefined ? [] : flagWords(name, given.get(name))));
}

/** A loop that lives keeps the limits that it was started with. */
export function refuseLimits(name: string, flags: object, meanwhile: string): void {
  const given = givenLimits(flags);
  const [flag] = given;
  if (flag === undefined) return;
  throw new RalphError(`${flag.split("=")[0]} cannot be changed while ${meanwhile}`, {
    code: "flag_invalid",
    hint: `ralph kill ${name} ends it, and ralph resume ${name} ${given.map(quoteWord).join(" ")} goes on with it`,
  });
}
