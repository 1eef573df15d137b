/** What a terminal must be sent so that it shows the lines: nothing for those that it shows already. */
export function frame(shown: string[], lines: string[]): string {
  const changes = lines.flatMap((line, row) => (line === shown[row] ? [] : [lineAt(row, line)]));
  return changes.length === 0 ? "" : `${BEGIN}${changes.join("")}${END}`;
}

/** Terminals that know it show what is between all at once. */
const BEGIN = "\u001b[?2026h";
const END = "\u001b[?2026l";

/** The rest of the line is cleared after it is written, so that it is never seen empty. */
function lineAt(row: number, line: string): string {
  return `\u001b[${row + 1};1H${line}\u001b[0m\u001b[K`;
}
