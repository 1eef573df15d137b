import { digest } from "../state/digest.js";

/** The same word for failures of the same kind: numbers change from run to run, as times, counts and ports do. */
export function likeness(failures: string[]): Promise<string> {
  return digest(failures.map((text) => text.replace(/\d+/g, "0")).join("\n"));
}
