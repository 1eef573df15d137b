import type { Call } from "../call.js";
import type { Category, Judged } from "../finding.js";

/** One category. `judge` looks at one simple command; it must not throw. */
export interface Rule {
  category: Category;
  judge(call: Call): Judged | undefined;
}
