import type { Argument, Option } from "commander";
import type { Candidate } from "../../commands/completion-values.js";

/** Finds the values of arguments and flags by what these are called, such as `run` and `agent`. */
export type Sources = Record<string, () => Promise<Candidate[]>>;

/** What the shell completes itself. */
const NAMES_ON_DISK: [directive: string, names: RegExp][] = [
  [":file", /(^|[-_ ])(file|path)s?$/i],
  [":dir", /(^|[-_ ])(dir|directory|folder)s?$/i],
];

export function isDirective(value: string): boolean {
  return NAMES_ON_DISK.some(([directive]) => directive === value);
}

/** The values that a flag or an argument takes, with what stands before them in the same word. */
export async function valuesOf(
  taker: Option | Argument,
  prefix: string,
  sources: Sources,
): Promise<Candidate[]> {
  const choices = taker.argChoices?.map((value) => ({ value, description: "" }));
  const names = namesOf(taker);
  const onDisk = NAMES_ON_DISK.find(([, pattern]) => names.some((name) => pattern.test(name)));
  if (choices === undefined && onDisk !== undefined) return [{ value: onDisk[0], description: prefix }];
  const values = choices ?? (await fromSource(names, sources));
  return values.map(({ value, description }) => ({ value: prefix + value, description }));
}

async function fromSource(names: string[], sources: Sources): Promise<Candidate[]> {
  const known = names.find((name) => Object.hasOwn(sources, name));
  const found = known === undefined ? [] : ((await sources[known]?.()) ?? []);
  return found.filter(({ value }) => !isDirective(value));
}

/** `file` and `config` for `--config <file>`. */
function namesOf(taker: Option | Argument): string[] {
  if (!("flags" in taker)) return [taker.name()];
  const placeholder = /[<[]([^>\].]+)/.exec(taker.flags)?.[1] ?? "";
  return [placeholder, taker.attributeName()];
}
