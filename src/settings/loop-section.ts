import type { LoopSettings, Settings } from "./schema.js";

/** The defaults of a loop over checks: `ralph_loop` as in YAML files, and `loop` over it. */
export function loopSection(settings: Settings): LoopSettings {
  return { ...settings.ralph_loop, ...settings.loop };
}
