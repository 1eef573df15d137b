/**
 * Whether a program on a terminal can be typed to. `isBusy`: ralph knows the program, and it works. `blocked`: it
 * asks something that only a person can answer.
 */
export type Readiness =
  | { state: "ready" }
  | { state: "waiting"; isBusy?: true }
  | { state: "blocked"; why: string };

/** What an agent shows on a terminal. All functions get the lines of the screen that are not blank. */
export interface AgentScreen {
  /** Whether its input can be typed to; undefined: this is another program's screen. */
  input(lines: string[]): Readiness | undefined;
  /** Questions that it asks before it works, and what the user has to do about them. */
  dialogs: [looks: RegExp, why: string][];
  /** Questions on the line where the cursor is. */
  questions?: [looks: RegExp, why: string][];
  /** What stands where neither its model nor a tool can write, if that may be about a usage limit. */
  ownLine?(lines: string[]): string | undefined;
}

/** Questions that go away when the user runs the program once. `how` stands before "once by hand". */
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

/** How many lines above an input may say what the agent does. */
const NEAR = 8;

/** The state of an input at this line, by whether a line near it shows that the agent works. */
export function inputAt(lines: string[], at: number, busy: RegExp): Readiness {
  const isBusy = lines.slice(Math.max(0, at - NEAR), at).some((line) => busy.test(line));
  return isBusy ? { state: "waiting", isBusy } : { state: "ready" };
}

/** Agents indent what they write below their input; another program's output begins at the edge. */
export function isIndented(lines: string[]): boolean {
  return lines.length <= 6 && lines.every((line) => /^[\s╰]/.test(line));
}

/** A line, and what it goes on with. */
export function withMore([first = "", ...rest]: string[], goesOn: RegExp): string {
  const end = rest.findIndex((line) => !goesOn.test(line));
  return [first, ...(end < 0 ? rest : rest.slice(0, end))].map((line) => line.trim()).join(" ");
}
