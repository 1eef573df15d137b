import { describe, expect, it } from "vitest";
import type { Finding } from "../../src/setup/doctor/finding.js";
import { createDoctorLines } from "../../src/views/doctor.js";
import { createFormatter } from "../../src/views/format.js";

const OPTIONS = { showTimestamp: false, maxOutputLines: 0, maxOutputChars: 0, showProgress: false };

function lines(useEmoji: boolean, columns: number, useColor = false) {
  return createDoctorLines(createFormatter({ ...OPTIONS, useEmoji, useColor }), columns);
}

const FINDINGS: Finding[] = [
  { name: "claude", status: "ok", message: "1.0 at /bin/claude" },
  { name: "codex", status: "ok", message: "not installed", installed: false },
  { name: "amp", status: "warning", message: "no sign of a login", fix: "amp login" },
  { name: "default", status: "problem", message: "a b ".repeat(10).trim(), fix: "c d ".repeat(10).trim() },
];

describe("a group of findings", () => {
  it("has its names and messages in columns, with what to do below", () => {
    expect(lines(true, 48).group("agents", FINDINGS)).toEqual([
      "Agents",
      "  ✅ claude       1.0 at /bin/claude",
      "  -  codex        not installed",
      "  ⚠️ amp          no sign of a login",
      "                  →  amp login",
      "  ❌ default      a b a b a b a b a b a b a b a",
      "                  b a b a b",
      "                  →  c d c d c d c d c d c d c d",
      "                     c d c d c d",
      "",
    ]);
  });

  it("has text markers in place of emoji", () => {
    expect(lines(false, 80).group("agents", FINDINGS.slice(0, 3))).toEqual([
      "Agents",
      "  [OK]   claude       1.0 at /bin/claude",
      "  -      codex        not installed",
      "  [WARN] amp          no sign of a login",
      "                      -> amp login",
      "",
    ]);
  });

  it("has colours only where they are wanted", () => {
    const [finding] = FINDINGS.slice(2) as [Finding];
    expect(lines(false, 80, true).group("x", [finding]).slice(1, 3)).toEqual([
      "  \u001b[33m[WARN]\u001b[39m amp          no sign of a login",
      "                      \u001b[36m-> amp login\u001b[39m",
    ]);
  });

  it("does not let a program steer the terminal", () => {
    const said = "\u001b[2Jgone\b \u009b31m";
    expect(lines(false, 80).group("x", [{ name: "n", status: "ok", message: said }])[1]).toBe(
      "  [OK]   n            gone",
    );
  });
});

describe("the closing line", () => {
  const finding = (status: Finding["status"]): Finding => ({ name: "n", status, message: "" });
  it.each([
    [["ok"], "[OK] No problems, no warnings."],
    [["ok", "warning"], "[WARN] No problems, 1 warning."],
    [["warning", "warning"], "[WARN] No problems, 2 warnings."],
    [["problem", "ok"], "[ERR] 1 problem, no warnings."],
    [["problem", "warning", "problem"], "[ERR] 2 problems, 1 warning."],
  ] as [Finding["status"][], string][])("of %j", (statuses, line) => {
    expect(lines(false, 80).closing(statuses.map(finding))).toBe(line);
  });
});
