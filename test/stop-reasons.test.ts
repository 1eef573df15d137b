import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { STOP_REASONS } from "../src/stop-reasons.js";

it("every stop reason is in docs/reference/done.md with its exit code", () => {
  const page = readFileSync(join(import.meta.dirname, "../docs/reference/done.md"), "utf8");
  const rows = [...page.matchAll(/^\| (\d+) \| `(\w+)` \|/gm)].map(([, code, reason]) => `${reason} ${code}`);
  const table = Object.entries(STOP_REASONS).map(([reason, { exitCode }]) => `${reason} ${exitCode}`);
  expect(rows.sort()).toEqual(table.sort());
});
