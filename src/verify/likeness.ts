import { normalForm } from "../normal-form.js";
import { digest } from "../state/digest.js";

/** The same word for failures of the same kind. */
export function likeness(failures: string[]): Promise<string> {
  return digest(failures.map(normalForm).join("\n"));
}
