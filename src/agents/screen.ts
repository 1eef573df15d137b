/** `isBusy`: a known program is working. `blocked`: it asks something that only a person can answer. */
export type Readiness =
  | { state: "ready" }
  | { state: "waiting"; isBusy?: true }
  | { state: "blocked"; why: string };

/** What an agent shows on a terminal. All functions get the lines of the screen that are not blank. */
export interface AgentScreen {
  /** The state of its input; undefined: this is another program's screen. */
  input(lines: string[]): Readiness | undefined;
  /** Questions that it asks before it works, and what the user must do about them. */
  dialogs: [looks: RegExp, why: string][];
  /** Questions on the line with the cursor. */
  questions?: [looks: RegExp, why: string][];
  /** A line about a usage limit, from a place where neither its model nor a tool can write. */
  ownLine?(lines: string[]): string | undefined;
}

/** Questions that disappear after the user has run the program once. `how` comes before "once by hand". */
export function asksOnce(
  title: string,
  program: string,
  rows: [looks: RegExp, what: string, how?: string][],
): [looks: RegExp, why: string][] {
  return rows.map(([looks, what, how]) => [
    looks,
    `${title} ${what}: run ${program}${how === undefined ? "" : ` ${how}`} once by hand`,
  ]);
}

/** How many lines above the input may show what the agent does. */
const NEAR = 8;

/** The state of the input at this line: a line near it may show that the agent works. */
export function inputAt(lines: string[], at: number, busy: RegExp): Readiness {
  const isBusy = lines.slice(Math.max(0, at - NEAR), at).some((line) => busy.test(line));
  return isBusy ? { state: "waiting", isBusy } : { state: "ready" };
}

/** Agents indent what they write below their input; another program's output starts in the first column. */
export function isIndented(lines: string[]): boolean {
  return lines.length <= 6 && lines.every((line) => /^[\s╰]/.test(line));
}

/** A line, with the lines that continue it. */
export function withMore([first = "", ...rest]: string[], goesOn: RegExp): string {
  const end = rest.findIndex((line) => !goesOn.test(line));
  return [first, ...(end < 0 ? rest : rest.slice(0, end))].map((line) => line.trim()).join(" ");
}
