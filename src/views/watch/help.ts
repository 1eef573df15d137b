/** The keys, in the order of their use; lines that fit into 40 columns. */
export const HELP = [
  "",
  "j k, arrows   select",
  "g G           first and last",
  "PgUp PgDn     ten up and down",
  "a, Enter      attach to it",
  "l             show its log",
  "p             pause it",
  "r             resume it",
  "K             kill it (asks first)",
  "f             only one status, next one",
  "/             only what has a text",
  "Esc           show all again",
  "Ctrl+L        draw it all anew",
  "q             leave; all goes on",
];

const KEYS = ["a attach", "l logs", "p pause", "r resume", "K kill", "f filter", "/ search"];
const ALWAYS = ["? help", "q quit"];
const GAP = "  ";

/** As many keys as fit. */
export function keysLine(mode: "list" | "help", room: number): string {
  if (mode === "help") return "any key goes back".slice(0, room);
  const fits = (count: number): boolean => lineOf(count).length <= room;
  const count = KEYS.findLastIndex((_, index) => fits(index + 1)) + 1;
  return lineOf(count).slice(0, room);
}

function lineOf(count: number): string {
  return [...KEYS.slice(0, count), ...ALWAYS].join(GAP);
}
