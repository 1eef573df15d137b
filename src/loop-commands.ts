/** Commands that can be the loop of a worker as they stand, by their first word. */
export const LOOP_COMMANDS: Record<string, string[]> = {
  run: ["run"],
  loop: ["loop"],
  stories: ["stories", "run"],
  pipeline: ["pipeline", "run"],
};
